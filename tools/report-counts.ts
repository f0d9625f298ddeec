/** A reporter for node's test runner, beside the usual one: at the end, for each file, whether it held, how long it took and the counts that its tests told. */
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

type Part = { readonly counts: string[]; passed: number; failed: number; skipped: number; durationMs: number };

// biome-ignore lint/style/noDefaultExport: the form in which node's runner takes a reporter
export default async function* reportCounts(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const parts = new Map<string, Part>();
  for await (const { type, data } of events) {
    // What has no file is the runner's own word about all of them.
    if (!data || !('file' in data) || data.file === undefined) continue;
    const file = relative('', data.file); // the runner says it in one way and its processes in another
    const part = parts.get(file) ?? { counts: [], passed: 0, failed: 0, skipped: 0, durationMs: 0 };
    parts.set(file, part);
    if (type === 'test:diagnostic') part.counts.push(data.message);
    if (type === 'test:fail' && data.details.type !== 'suite') part.failed += 1;
    if (type === 'test:pass' && data.details.type !== 'suite') {
      if (data.skip) part.skipped += 1;
      else part.passed += 1;
    }
    if (type === 'test:summary') part.durationMs = data.duration_ms;
  }
  const rows = [...parts].toSorted(([one], [other]) => one.localeCompare(other));
  for (const [file, { counts, passed, failed, skipped, durationMs }] of rows) {
    const seconds = Math.round(durationMs / 1000);
    yield `${verdictOf({ passed, failed })} ${file}: ${passed} passed, ${failed} failed, ${skipped} skipped, ${seconds} s\n`;
    for (const count of counts) yield `         ${count}\n`;
  }
  const held = rows.filter(([, part]) => verdictOf(part) === 'HELD    ').length;
  yield `${held} of ${rows.length} parts held\n`;
}

function verdictOf({ passed, failed }: Pick<Part, 'passed' | 'failed'>): string {
  if (failed > 0) return 'VIOLATED';
  return passed > 0 ? 'HELD    ' : 'NOT RUN ';
}
