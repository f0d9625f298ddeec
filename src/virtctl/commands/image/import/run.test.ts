import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { systemClock } from '../../../../base/clock.ts';
import { startFileServer } from '../../../../images/import/file-server.testing.ts';
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
  assert.match(String(terminal.read()), /import +storing · 100 % · 1 of 1 MiB/);
});

test('a disk at an address is checked by its digest, and takes the name from what had it', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'import-'));
  t.after(() => rmSync(home, { recursive: true }));
  const server = await startFileServer(t, Buffer.alloc(2 ** 20, 'disk'));
  const url = `${server.origin}/disk.raw`;
  const { deps, stdout, stderr } = testDeps({}, { home, cache: join(home, 'cache'), clock: systemClock });
  await run(deps, {}, url, 'localhost/disk');
  assert.match(stdout(), /^localhost\/disk:latest imported, [0-9a-f]{12}\n$/);
  assert.match(stderr(), /it is not checked/);
  Object.assign(server, { content: Buffer.alloc(512, 'new'), etag: '"two"' });
  const before = openImageStore(join(home, 'images')).resolve('localhost/disk:latest')?.digest;
  await run(deps, {}, url, 'localhost/disk');
  assert.notEqual(openImageStore(join(home, 'images')).resolve('localhost/disk:latest')?.digest, before);
  await assert.rejects(run(deps, { digest: `sha256:${'0'.repeat(64)}` }, url, 'localhost/other'), { code: 'DIGEST_MISMATCH' });
  await assert.rejects(run(deps, { digest: 'md5:0' }, url, 'localhost/other'), { code: 'USAGE', exitCode: 2 });
  await assert.rejects(run(deps, {}, 'http://images.example.com/x', 'localhost/other'), { code: 'USAGE', why: /not https/ });
  assert.equal(openImageStore(join(home, 'images')).resolve('localhost/other'), undefined);
});
