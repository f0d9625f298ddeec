import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { runTests } from './test-run.ts';

/** Counts its runs in a file, and fails in the first ones. */
const failing = (runs: string, times: number) => `
  import { appendFileSync, readFileSync } from 'node:fs';
  import { test } from 'node:test';
  appendFileSync(${JSON.stringify(runs)}, '.');
  test('x', () => { if (readFileSync(${JSON.stringify(runs)}, 'utf8').length <= ${times}) throw new Error('not yet'); });`;

/** Has something open at the end of its first run. */
const hanging = (runs: string) => `if (readFileSync(${JSON.stringify(runs)}, 'utf8').length === 1) setInterval(() => {}, 1000);`;

/** Runs a file for each number, which fails that many times. */
async function runFailing(
  t: TestContext,
  times: readonly number[],
  { canRepeat = true, isImported = false, hangs = false, fileLimitMs = 30_000 } = {},
): Promise<{ code: number; said: string[]; runs: number[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'kubevirt-ts-run-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const runs = times.map((_, index) => join(folder, `runs-${index}`));
  const files = times.map((each, index) => {
    const file = join(folder, `${index}.test.mjs`);
    writeFileSync(
      isImported ? join(folder, 'helper.mjs') : file,
      `${failing(runs[index] ?? '', each)}${hangs ? hanging(runs[index] ?? '') : ''}`,
    );
    if (isImported) writeFileSync(file, "import './helper.mjs';");
    return file;
  });
  const said: string[] = [];
  const { NODE_TEST_CONTEXT: _, ...env } = process.env; // a runner of its own
  const code = await runTests({
    files,
    timeoutMs: 30_000,
    fileLimitMs,
    concurrency: 2,
    env,
    canRepeat,
    onStart: () => {},
    say: (line) => said.push(line),
    stdio: 'ignore',
  });
  return { code, said, runs: runs.map((file) => readFileSync(file, 'utf8').length) };
}

test('a file that fails is run once more, alone and named', async (t) => {
  const { code, said, runs } = await runFailing(t, [1, 0]);
  assert.deepEqual({ code, runs }, { code: 0, runs: [2, 1] });
  assert.match(said.join('\n'), /REPEATED 1: \S+0\.test\.mjs: failed.*\nREPEATED 1: \S+: held alone/);
});

test('a test that stands in another file is repeated by the file that was given', async (t) => {
  const { code, runs, said } = await runFailing(t, [1], { isImported: true });
  assert.deepEqual({ code, runs }, { code: 0, runs: [2] });
  assert.match(said.at(-1) ?? '', /0\.test\.mjs: held alone/);
});

test('what fails twice has failed', async (t) => {
  const { code, said, runs } = await runFailing(t, [2, 1]);
  assert.deepEqual({ code, runs }, { code: 1, runs: [2, 2] });
  assert.match(said.at(-1) ?? '', /failed again/);
});

test('of three that fail none is repeated, nor where single files were asked for', async (t) => {
  assert.deepEqual(await runFailing(t, [1, 1, 1]), { code: 1, said: [], runs: [1, 1, 1] });
  assert.deepEqual(await runFailing(t, [1], { canRepeat: false }), { code: 1, said: [], runs: [1] });
});

test('a file that does not end is ended, and run once more', async (t) => {
  const { code, said, runs } = await runFailing(t, [0], { hangs: true, fileLimitMs: 3000 });
  assert.deepEqual({ code, runs }, { code: 0, runs: [2] });
  assert.match(
    said.join('\n'),
    /error: \S+0\.test\.mjs has not ended for 3 seconds.*\nfix: .*\nREPEATED 1: .*\nREPEATED 1: \S+: held alone/,
  );
});
