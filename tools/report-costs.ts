/**
 * A reporter for node's test runner, beside the usual one: at the end the ten most expensive files. By their time on the processors where it is
 * counted (`enter-cpu-group.ts` imported before each), which a busy machine changes little; by the clock elsewhere.
 */
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { closeGroups, openGroups } from './cpu-group.ts';

const SHOWN = 10;

// biome-ignore lint/style/noDefaultExport: the form in which node's runner takes a reporter
export default async function* reportCosts(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  openGroups(process.pid); // before the first file is started
  const elapsed = new Map<string, number>();
  for await (const { type, data } of events)
    if (type === 'test:summary' && data.file !== undefined) elapsed.set(relative('', data.file), data.duration_ms / 1000);
  const used = closeGroups(process.pid);
  if (elapsed.size > 0) yield costLines({ elapsed, used }).join('');
}

type Costs = { readonly elapsed: ReadonlyMap<string, number>; readonly used: ReadonlyMap<string, number> };

/** The most expensive first. */
export function costLines({ elapsed, used }: Costs): string[] {
  const isCounted = used.size > 0;
  const costs = [...(isCounted ? used : elapsed)].toSorted(([, one], [, other]) => other - one);
  const all = costs.reduce((sum, [, seconds]) => sum + seconds, 0);
  const measure = isCounted ? 'seconds of a processor' : 'seconds by the clock';
  return [
    `COSTS ${Math.round(all)} ${measure} for ${costs.length} files, of these\n`,
    ...costs.slice(0, SHOWN).map(([file, seconds]) => `  ${seconds.toFixed(1).padStart(7)}  ${file}\n`),
  ];
}
