/** A reporter for node's test runner, beside the usual one: the files in which a test failed, one per line. */
import type { TestEvent } from 'node:test/reporters';

// biome-ignore lint/style/noDefaultExport: the form in which node's runner takes a reporter
export default async function* reportFailedFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files = new Set<string>();
  for await (const { type, data } of events) {
    if (type !== 'test:fail' || data.file === undefined) continue;
    // A test may be written in a file that others import; what can be run is the file that the runner was given.
    files.add('entryFile' in data && typeof data.entryFile === 'string' ? data.entryFile : data.file);
  }
  for (const file of files) yield `${file}\n`;
}
