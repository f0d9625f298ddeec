import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { importImage } from '../../../../images/import-file.ts';
import { openImageStore } from '../../../../images/store.ts';
import { testDeps } from '../../../deps.testing.ts';
import { run } from './run.ts';

/** A data folder with an image of a disk in it. */
async function withImage(t: TestContext) {
  const home = mkdtempSync(join(tmpdir(), 'image-'));
  t.after(() => rmSync(home, { recursive: true }));
  const path = join(home, 'disk.raw');
  writeFileSync(path, Buffer.alloc(2 ** 20, 'disk'));
  const store = openImageStore(join(home, 'images'));
  const { digest } = await importImage({ storeDir: join(home, 'images'), path, reference: 'localhost/disk:1' });
  return { ...testDeps({}, { home }), digest, store };
}

test('the name goes', async (t) => {
  const { deps, stdout, store } = await withImage(t);
  await run(deps, {}, 'localhost/disk:1');
  assert.deepEqual([store.resolve('localhost/disk:1'), stdout()], [undefined, 'localhost/disk:1 removed\n']);
});

test('a name that nobody knows is not found', async (t) => {
  const { deps } = await withImage(t);
  await assert.rejects(run(deps, {}, 'localhost/other'), { reason: 'NotFound' });
});
