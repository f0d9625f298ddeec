import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../clock.ts';
import { withFileLock } from './file-lock.ts';

function lockFile(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'lock-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return join(folder, 'lock');
}

test('work with one lock does not overlap, and whoever waits is told', async (t) => {
  const path = lockFile(t);
  const said: string[] = [];
  const work = (name: string) =>
    withFileLock({ path, clock: systemClock, onWaiting: () => said.push(`${name} waits`) }, async () => {
      said.push(`${name} begins`);
      await systemClock.sleep(80);
      said.push(`${name} ends`);
    });
  await Promise.all([work('a'), work('b')]);
  assert.deepEqual(
    said.filter((line) => !line.endsWith('waits')),
    ['a begins', 'a ends', 'b begins', 'b ends'],
  );
  assert.ok(said.includes('b waits'));
});

test('a holder that is killed does not keep it', async (t) => {
  const path = lockFile(t);
  const program = `
    const { withFileLock } = await import(${JSON.stringify(import.meta.resolve('./file-lock.ts'))});
    await withFileLock({ path: ${JSON.stringify(path)}, clock: { sleep: () => {} } }, async () => { console.log('mine'); await new Promise((done) => setTimeout(done, 60_000)); });`;
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  const ours = withFileLock({ path, clock: systemClock, onWaiting: () => child.kill('SIGKILL') }, async () => 'ours');
  assert.equal(await ours, 'ours');
});

test('waiting can be given up', async (t) => {
  const path = lockFile(t);
  const stop = new AbortController();
  await withFileLock({ path, clock: systemClock }, async () => {
    const second = withFileLock({ path, clock: systemClock, signal: stop.signal, onWaiting: () => stop.abort() }, async () => 'never');
    await assert.rejects(second, { name: 'AbortError' });
  });
});
