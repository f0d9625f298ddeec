import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { blobPath } from './layout.ts';
import { openImageStore } from './store.ts';
import { writeImage } from './write-image.ts';

async function images(t: TestContext): Promise<string> {
  const base = mkdtempSync(join(tmpdir(), 'damaged-index-'));
  t.after(() => rmSync(base, { recursive: true }));
  const dir = join(base, 'images');
  for (const name of ['one', 'two']) {
    writeFileSync(join(base, name), name);
    await writeImage({ dir, reference: `localhost/${name}`, files: [{ path: join(base, name), name: 'disk/disk.img' }] });
  }
  return dir;
}

test('a list of images that is damaged is one error with a way back, which works', async (t) => {
  const dir = await images(t);
  const index = join(dir, 'index.json');
  for (const text of ['', 'null', '{}', '[1]', '{"manifests":[{}]}']) {
    writeFileSync(index, text);
    assert.throws(() => openImageStore(dir).resolve('localhost/one'), { name: 'UserError', code: 'IMAGE_INDEX_DAMAGED' }, text);
    assert.throws(() => openImageStore(dir).tag('localhost/one', 'localhost/new'), { code: 'IMAGE_INDEX_DAMAGED' }, text);
  }
  renameSync(index, `${index}.damaged`);
  const store = openImageStore(dir);
  assert.equal(store.resolve('localhost/one'), undefined);
  assert.deepEqual(await store.list(), []);
});

test('what is in the place of the lock is named', async (t) => {
  const dir = await images(t);
  rmSync(join(dir, '.lock'));
  mkdirSync(join(dir, '.lock'));
  const message = `${join(dir, '.lock')} cannot be locked`;
  assert.throws(() => openImageStore(dir).tag('localhost/one', 'localhost/new'), { name: 'UserError', code: 'LOCK_UNUSABLE', message });
});

test('an image goes, though the manifest of another one, or its own, is damaged', async (t) => {
  const dir = await images(t);
  const store = openImageStore(dir);
  for (const name of ['localhost/two', 'localhost/one']) {
    writeFileSync(blobPath(dir, store.resolve('localhost/one')?.digest ?? ''), '');
    store.remove(name);
    assert.equal(store.resolve(name), undefined);
  }
});
