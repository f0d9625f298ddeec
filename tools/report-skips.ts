/** A reporter for node's test runner, beside the usual one: says at the end what was skipped, and why. */
import type { TestEvent } from 'node:test/reporters';

// biome-ignore lint/style/noDefaultExport: the form in which node's runner takes a reporter
export default async function* reportSkips(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const reasons = new Map<string, string[]>();
  for await (const { type, data } of events) {
    if ((type !== 'test:pass' && type !== 'test:fail') || data.skip === undefined || data.skip === false) continue;
    const reason = typeof data.skip === 'string' && data.skip !== '' ? data.skip : 'no reason given';
    reasons.set(reason, [...(reasons.get(reason) ?? []), data.name]);
  }
  for (const [reason, names] of reasons) yield `SKIPPED ${names.length}: ${reason}\n${names.map((name) => `  ${name}\n`).join('')}`;
}
