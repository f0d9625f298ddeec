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

test('a line for each name', async (t) => {
  const { deps, stdout, digest } = await withImage(t);
  await run(deps);
  assert.equal(stdout(), `NAME              DIGEST        SIZE\nlocalhost/disk:1  ${digest.slice(7, 19)}  1Mi\n`);
});

test('where there are none, that is said', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'image-'));
  t.after(() => rmSync(home, { recursive: true }));
  const { deps, stdout } = testDeps({}, { home });
  await run(deps);
  assert.equal(stdout(), 'no images\n');
});
