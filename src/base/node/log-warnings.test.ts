import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';

const HERE = (name: string) => JSON.stringify(resolve(import.meta.dirname, name));

/** What a program wrote to its standard output, and the file that is its standard error. */
function ran(t: TestContext, code: string) {
  const folder = mkdtempSync(join(tmpdir(), 'log-warnings-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'errors');
  const errors = openSync(path, 'a');
  const program = `
    import { createLogger } from ${HERE('../log.ts')};
    import { limitStandardError, logWarnings } from ${HERE('log-warnings.ts')};
    const write = (line) => process.stdout.write(line + '\\n');
    const log = createLogger({ write, level: 'info', now: () => 0, repeatAfterMs: 60_000 });
    ${code}`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', errors],
  });
  closeSync(errors);
  return { lines: stdout.split('\n').filter(Boolean), path };
}

test('a warning of Node.js is a line of the log, once, and nothing on standard error', (t) => {
  const { lines, path } = ran(
    t,
    "logWarnings(log); for (let at = 0; at < 1_000; at += 1) process.emitWarning('too long', 'TimeoutOverflowWarning');",
  );
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    [{ time: '1970-01-01T00:00:00.000Z', level: 'warn', message: 'Node.js warns', name: 'TimeoutOverflowWarning', because: 'too long' }],
  );
  assert.equal(readFileSync(path, 'utf8'), '');
});

test('what is written to standard error has a limit', (t) => {
  const { path } = ran(t, "limitStandardError(10_000); for (let at = 0; at < 1_000; at += 1) console.error('x'.repeat(99));");
  const sizes = [path, `${path}.1`].map((each) => statSync(each).size);
  assert.ok(
    sizes.every((size) => size <= 20_100),
    `${sizes} of 100,000 bytes`,
  );
});

test('whoever waits for what it wrote to standard error is told', (t) => {
  const { lines, path } = ran(t, "limitStandardError(); process.stderr.write('a line\\n', 'utf8', () => write('written'));");
  assert.deepEqual([lines, readFileSync(path, 'utf8')], [['written'], 'a line\n']);
});
