/** The list of machines in a real browser, of machines that nobody runs: what is done to many, and how machines in trouble look. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser, Page, Route } from 'playwright-core';
import { VMS } from '../../src/api/kubevirt/kinds/virtual-machine.ts';
import { tinySpec } from '../../src/testing/builders.ts';
import { accessibilityFaults, openPage, startBrowser, takePicture, whyNoBrowser } from '../e2e/browser.ts';
import { type PageOfMachines, startPageOfMachines } from './page-of-machines.ts';

const skip = whyNoBrowser ?? false;
const COUNT = 31;
let served: PageOfMachines;
let browser: Browser;
let page: Page;

before(async () => {
  if (skip) return;
  [served, browser] = await Promise.all([startPageOfMachines(COUNT), startBrowser()]);
  page = await openPage(browser, served.link());
  page.setDefaultTimeout(10_000);
  await page.getByRole('heading', { name: `Machines ${COUNT}` }).waitFor();
});
after(async () => {
  await browser?.close();
  await served?.[Symbol.asyncDispose]();
});

const dialog = () => page.getByRole('dialog');
const selectAll = () => page.getByRole('checkbox', { name: 'Select all that are shown' }).check();
const counted = async () => Number(await page.locator('h1 .count').innerText());
const SOME = /\/virtualmachine(instance)?s\/vm-/;

/** Requests to delete machines wait here until they are let go. */
async function holdDeletions(): Promise<{ readonly held: Route[]; until(count: number): Promise<void> }> {
  const held: Route[] = [];
  let told = Promise.withResolvers<void>();
  await page.route(SOME, async (route) => {
    if (route.request().method() !== 'DELETE') return route.continue();
    held.push(route);
    told.resolve();
    told = Promise.withResolvers();
  });
  const until = async (count: number) => {
    while (held.length < count) await told.promise;
  };
  return { held, until };
}

for (const [how, leave] of [
  ['Cancel', () => dialog().getByRole('button', { name: 'Cancel' }).click()],
  ['Escape', () => page.keyboard.press('Escape')],
] as const)
  test(`${how} while many are deleted begins no more, says how far it came, and leaves the others selected`, { skip }, async () => {
    const before = await counted();
    const { held, until } = await holdDeletions();
    await selectAll();
    await page.getByRole('button', { name: 'Delete the selected machines' }).click();
    await dialog().getByRole('button', { name: 'Delete' }).click();
    await until(5);
    await leave();
    await dialog().getByText('Stopping: what was begun is waited for.').waitFor();
    await Promise.all(held.map((route) => route.continue()));
    await dialog()
      .getByText(/^Stopped after 5 of \d+\.$/)
      .waitFor();
    assert.equal(held.length, 5);
    await page.getByText(`${before - 5} selected`).waitFor();
    await dialog().getByRole('button', { name: 'Close' }).click();
    await page.unroute(SOME);
    await page.getByRole('button', { name: 'Clear' }).click();
  });

test('a machine that was made again under its name while the dialog was open is not deleted, and that is said', { skip }, async () => {
  await page.getByRole('searchbox').fill('vm-00021');
  await page.getByRole('link', { name: 'vm-00021', exact: true }).click();
  await page.getByRole('button', { name: 'Delete vm-00021' }).click();
  const at = { namespace: 'default', name: 'vm-00021' };
  await served.client.delete(VMS, at);
  const spec = { runStrategy: 'Halted' as const, template: { spec: tinySpec } };
  const again = await served.client.create(VMS, { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: at, spec });
  await dialog().getByRole('button', { name: 'Delete' }).click();
  await dialog().getByRole('alert').filter({ hasText: 'another one was made under its name' }).waitFor();
  assert.equal((await served.client.get(VMS, at))?.metadata.uid, again.metadata.uid);
  await dialog().getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('link', { name: 'Machines', exact: true }).click();
});

test('a server that is away is said in words of the page', { skip }, async () => {
  await page.route('**/virtualmachines/*/start', (route) => route.abort());
  await page
    .getByRole('button', { name: /^Start vm-/ })
    .first()
    .click();
  await page.getByRole('alert').filter({ hasText: 'the server of this page does not answer' }).waitFor();
  await page.unroute('**/virtualmachines/*/start');
});

test('when all were done the dialog is gone, and nothing is selected', { skip }, async () => {
  await page.getByRole('searchbox').fill('vm-0001');
  await page.getByRole('heading', { name: /Machines \d+ of/ }).waitFor();
  await selectAll();
  await page.getByRole('button', { name: 'Start the selected machines', exact: true }).click();
  await page.route('**/virtualmachines/*/start', (route) => route.fulfill({ status: 202, body: '' }));
  await dialog().getByRole('button', { name: 'Start', exact: true }).click();
  await dialog().waitFor({ state: 'detached' });
  await page.getByRole('toolbar').waitFor({ state: 'detached' });
  await page.getByRole('searchbox').fill('');
});

test('the list is sorted, put into groups and cut to the columns that somebody wants, and is so again after a reload', {
  skip,
}, async () => {
  const first = page.locator('tr[data-machine] td.name a').first();
  await page.getByRole('button', { name: 'Name' }).click();
  await page.getByRole('columnheader', { name: 'Name', exact: true }).and(page.locator('[aria-sort=ascending]')).waitFor();
  await page.getByRole('button', { name: 'Name' }).click();
  await first.filter({ hasText: 'vm-00030' }).waitFor();
  await page.getByText('View').click();
  await page.getByLabel('Group by').selectOption('Status');
  await page.getByRole('checkbox', { name: 'Size' }).uncheck();
  assert.deepEqual(await accessibilityFaults(page), []);
  await takePicture(page, 'view');
  await page.reload();
  await page.getByRole('checkbox', { name: 'Select all of Stopped' }).check();
  await page.getByText(/^\d+ selected$/).waitFor();
  assert.match(page.url(), /\?sort=-name&group=status$/);
  assert.equal(await page.getByRole('columnheader', { name: 'Size' }).count(), 0);
  // rows above and below those that are drawn make no columns
  await page.setViewportSize({ width: 390, height: 400 });
  await page.locator('.rows').evaluate((list) => list.scrollTo(0, 700));
  const widths = await page.locator('.rows table').evaluate((table) => {
    const cells = [...(table.querySelector('tr[data-machine]')?.children ?? [])];
    return [table.clientWidth, cells.reduce((sum, cell) => sum + cell.getBoundingClientRect().width, 0)];
  });
  assert.equal(Math.round(widths[1] ?? 0), widths[0]);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.evaluate(() => localStorage.removeItem('hidden-columns'));
  await page.goto(new URL(page.url()).origin);
});

test('machines in trouble, with long names and states, keep the height of their rows and the buttons in the window', { skip }, async () => {
  for (const name of ['aa-in-trouble', `ab-${'long'.repeat(14)}`]) await makeInTrouble(name);
  const row = page.getByRole('row', { name: /aa-in-trouble/ });
  await row.getByText('an instance of aa-in-trouble cannot be made').waitFor();
  for (const width of [1600, 1280, 1024, 800, 390]) {
    await page.setViewportSize({ width, height: 800 });
    const heights = await page
      .locator('tr[data-machine]')
      .evaluateAll((rows) => [...new Set(rows.map((row) => row.getBoundingClientRect().height))]);
    assert.deepEqual(heights, [52], `rows at ${width}`);
    const over = await page.locator('.rows').evaluate((list) => list.scrollWidth - list.clientWidth);
    assert.equal(over, 0, `wider than a window of ${width}`);
    const start = await row.getByRole('button', { name: /^St/ }).boundingBox();
    assert.ok(start && start.x + start.width <= width, `the button at ${width}`);
    await takePicture(page, `trouble-${width}`);
  }
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.setViewportSize({ width: 1280, height: 800 });
});

test('the theme is chosen in the palette, against what the system says, and is kept', { skip }, async () => {
  const isDark = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor === 'rgb(20, 23, 28)');
  const choose = async (words: string) => {
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Commands' }).getByRole('combobox').fill(words);
    await page.getByRole('option', { name: new RegExp(words), selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Commands' }).waitFor({ state: 'detached' });
  };
  assert.equal(await isDark(), false);
  await choose('Theme: dark');
  assert.equal(await isDark(), true);
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.reload();
  await page.getByRole('heading', { name: /^Machines \d+$/ }).waitFor();
  assert.equal(await isDark(), true);
  await choose('Theme: as the system');
  assert.equal(await isDark(), false);
});

test('another site that frames the page frames nothing', { skip }, async () => {
  const { origin } = new URL(page.url());
  const evil = await page.context().newPage();
  await evil.route('http://evil.example/', (route) =>
    route.fulfill({ contentType: 'text/html', body: `<iframe src="${origin}/"></iframe><iframe src="${origin}/session.json"></iframe>` }),
  );
  await evil.goto('http://evil.example/', { waitUntil: 'load' });
  const [, ...frames] = evil.frames();
  assert.equal(frames.length, 2);
  for (const frame of frames) {
    // of a page that the browser has put there itself nothing may be told
    const content = await Promise.race([frame.content().catch(() => ''), pause(2_000, '')]);
    assert.doesNotMatch(content, /Machines|needs a link|"server"/);
  }
  await evil.close();
});

test('a browser that is not let in any more is told so while it looks on, and shown what to do when it comes again', { skip }, async () => {
  await page.goto(new URL(page.url()).origin);
  await page.getByRole('heading', { name: /^Machines \d+$/ }).waitFor();
  await page.evaluate(() => document.documentElement.setAttribute('data-loaded', 'once'));
  await served.startAnew();
  await page.getByRole('status').filter({ hasText: 'This browser is not let in any more' }).waitFor();
  assert.equal(await page.locator('html').getAttribute('data-loaded'), 'once');
  await page.reload();
  await page.getByRole('alert').filter({ hasText: 'this needs a link of its own' }).waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
});

async function makeInTrouble(name: string): Promise<void> {
  const spec = { runStrategy: 'Always' as const, template: { spec: tinySpec } };
  const metadata = { namespace: 'default', name };
  const made = await served.client.create(VMS, { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata, spec });
  const message = 'exceeded quota: compute, requested: requests.memory=64Gi, used: requests.memory=0, limited: requests.memory=1Gi';
  const conditions = [{ type: 'Failure', status: 'True' as const, reason: 'FailedCreate', message }];
  await served.client.update(
    VMS,
    { ...made, status: { printableStatus: 'WaitingForVolumeBinding', conditions } },
    { subresource: 'status' },
  );
}
