import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { openImageStore } from '../../../../images/store.ts';
import { testDeps } from '../../../deps.testing.ts';
import { run } from './run.ts';

test('a disk becomes an image of the store', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'import-'));
  t.after(() => rmSync(home, { recursive: true }));
  const path = join(home, 'disk.raw');
  writeFileSync(path, Buffer.alloc(2 ** 20, 'disk'));
  const { deps, stdout } = testDeps({}, { home });
  await run(deps, {}, path, 'localhost/disk');
  const digest = openImageStore(join(home, 'images')).resolve('localhost/disk:latest')?.digest ?? '';
  assert.equal(stdout(), `localhost/disk:latest imported, ${digest.slice(7, 19)}\n`);
  await assert.rejects(run(deps, {}, join(home, 'nowhere'), 'localhost/other'));
  const terminal = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  await run(testDeps({}, { home, stderr: terminal }).deps, {}, path, 'localhost/shown');
  assert.match(String(terminal.read()), /import +100 % · 1 of 1 MiB/);
});
