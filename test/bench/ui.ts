/**
 * The web page in a real browser, with the real API server and machines that nobody runs: what is loaded before one sees anything, how long that takes, how the
 * list of 10,000 scrolls and filters, and what memory the page has after many changes. What measuring guests costs is told beside it.
 *
 *   npm run bench -- ui [--rounds 30] [--guests 10]
 */
import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { VMS } from '../../src/api/kubevirt/kinds/virtual-machine.ts';
import { openPage, startBrowser } from '../e2e/browser.ts';
import { type PageOfMachines, startPageOfMachines } from '../integration/page-of-machines.ts';
import { median, occasion } from './figures.ts';
import { costOfLooks, costOfScrapes } from './metrics.ts';

const SOME = 1000;
const MANY = 10_000;
const AT_ONCE = 50;
/** Loads, each in a browser that has seen nothing. */
const LOADS = 5;

export async function benchmark(args: readonly string[]): Promise<void> {
  const options = { rounds: { type: 'string', default: '30' }, guests: { type: 'string', default: '10' } } as const;
  const { rounds, guests } = parseArgs({ args: [...args], options }).values;
  const browser = await startBrowser();
  const page = {
    ...(await withMachines(SOME, (served) => ofSome(browser, served, Number(rounds)))),
    ...(await withMachines(MANY, (served) => ofMany(browser, served))),
  };
  await browser.close();
  const figures = { ...page, ...(await costOfLooks(Number(guests))), ...(await costOfScrapes()), ...occasion() };
  console.log(`ui, ${figures.machine}, load ${figures.load}`);
  console.log(`  first load                            ${figures.firstLoadKB} kB compressed (aim: at most 200)`);
  console.log(`  list of ${SOME} live after the click     ${figures.liveListMs} ms (aim: at most 1000)`);
  console.log(
    `  memory of the page with ${SOME}          ${figures.heapMiB} MiB, after ${figures.changes} changes ${figures.heapAfterMiB} MiB`,
  );
  console.log(`  a change is seen after                ${figures.changeSeenMs} ms`);
  console.log(`  list of ${MANY}: a frame of scrolling  ${figures.frameMs} ms, the worst of 100 ${figures.worstFrameMs} ms`);
  console.log(`  list of ${MANY}: a letter of a filter  ${figures.filterMs} ms`);
  console.log(`  measuring, per guest                  ${figures.cpuMsPerSecond} ms CPU a second (aim: at most 1)`);
  console.log(`  /metrics of ${figures.machines} machines            ${figures.scrapeMs} ms, ${figures.scrapeKiB} KiB`);
  console.log(JSON.stringify({ benchmark: 'ui', ...figures }));
}

async function withMachines<T>(count: number, look: (served: PageOfMachines) => Promise<T>): Promise<T> {
  await using served = await startPageOfMachines(count);
  return await look(served);
}

async function ofSome(browser: Browser, served: PageOfMachines, rounds: number) {
  const times: number[] = [];
  for (let load = 0; load < LOADS; load++) {
    const startedMs = performance.now();
    const page = await openPage(browser, served.link());
    await page.getByRole('heading', { name: `Machines ${SOME}` }).waitFor();
    times.push(performance.now() - startedMs);
    if (load + 1 < LOADS) await page.context().close();
  }
  const page = browser.contexts()[0]?.pages()[0] ?? (await openPage(browser, served.link()));
  const bytes = await page.evaluate(() =>
    [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
      .filter(({ name }) => /\.(js|css)$|\/$/.test(name))
      .reduce((sum, entry) => sum + (entry as PerformanceResourceTiming).encodedBodySize, 0),
  );
  const before = await heapMiB(page);
  const seen: number[] = [];
  const stopped = served.names.filter((_, index) => index % 10 !== 0); // every tenth is an instance
  for (let round = 1; round <= rounds; round++) {
    for (let from = 0; from < stopped.length; from += AT_ONCE)
      await Promise.all(stopped.slice(from, from + AT_ONCE).map((name) => change(served, name, `${round}`)));
    const startedMs = performance.now();
    await change(served, stopped[0] ?? '', `seen-${round}`);
    await page.getByRole('searchbox').fill(`seen-${round}`);
    await page.getByRole('heading', { name: `Machines 1 of ${SOME}` }).waitFor();
    seen.push(performance.now() - startedMs);
    await page.getByRole('searchbox').fill('');
  }
  const after = await heapMiB(page);
  await page.context().close();
  return {
    firstLoadKB: Math.round(bytes / 1000),
    liveListMs: median(times),
    heapMiB: before,
    heapAfterMiB: after,
    changes: rounds * stopped.length,
    changeSeenMs: median(seen),
  };
}

function change(served: PageOfMachines, name: string, value: string): Promise<unknown> {
  return served.client.patch(VMS, { namespace: 'default', name }, { metadata: { labels: { round: value } } });
}

async function ofMany(browser: Browser, served: PageOfMachines) {
  const page = await openPage(browser, served.link());
  await page.getByRole('heading', { name: `Machines ${MANY}` }).waitFor();
  const frames = await page.getByRole('region', { name: 'List of machines' }).evaluate(async (list) => {
    const nextFrame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve));
    const found: number[] = [];
    for (let step = 0, last = await nextFrame(); step < 100; step++) {
      list.scrollBy(0, 1000);
      const now = await nextFrame();
      found.push(now - last);
      last = now;
    }
    return found;
  });
  const filters: number[] = [];
  for (const letter of 'vm-0777') {
    const startedMs = performance.now();
    await page.getByRole('searchbox').press(letter);
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
    filters.push(performance.now() - startedMs);
  }
  await page.getByRole('heading', { name: `Machines 10 of ${MANY}` }).waitFor();
  await page.context().close();
  return { frameMs: median(frames), worstFrameMs: Math.round(Math.max(...frames)), filterMs: median(filters) };
}

/** What is in use after everything that nobody needs is gone. */
async function heapMiB(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return Math.round(usedSize / 2 ** 20);
}
