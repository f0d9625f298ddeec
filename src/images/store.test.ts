import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { blobPath, readIndex, readManifest } from './layout.ts';
import { type ImageStore, openImageStore } from './store.ts';
import { writeImage } from './write-image.ts';

async function scratch(t: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'images-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** A store with one image, `localhost/guests/tiny:latest`, whose disk/disk.img says `text`. */
async function storeWith(t: TestContext, text = 'disk'): Promise<{ dir: string; store: ImageStore; digest: string }> {
  const base = await scratch(t);
  await writeFile(join(base, 'disk.img'), text);
  const dir = join(base, 'store');
  const files = [{ path: join(base, 'disk.img'), name: 'disk/disk.img' }];
  const { digest } = await writeImage({ dir, reference: 'localhost/guests/tiny', files });
  return { dir, store: openImageStore(dir), digest };
}

test('an image that was written is found, unpacked once, and shared', async (t) => {
  const { dir, store, digest } = await storeWith(t);
  assert.equal(store.resolve('localhost/guests/tiny:latest')?.digest, digest);
  assert.equal(store.resolve(`localhost/guests/tiny@${digest}`)?.digest, digest);
  assert.equal(store.resolve(`localhost/other@${digest}`), undefined);
  const [one, two] = await Promise.all([store.unpacked('localhost/guests/tiny'), store.unpacked('localhost/guests/tiny')]);
  assert.equal(one, two);
  assert.equal(await readFile(join(one, 'disk/disk.img'), 'utf8'), 'disk');
  assert.equal((await stat(one)).mode & 0o777, 0o700);
  assert.deepEqual(await readdir(join(dir, 'unpacked')), [digest.replace(':', '-')]);
});

test('the same files give the same digest', async (t) => {
  assert.equal((await storeWith(t)).digest, (await storeWith(t)).digest);
});

test('an image that is not here says how to get it', async (t) => {
  const { store } = await storeWith(t);
  assert.equal(store.resolve('quay.io/a/b'), undefined);
  await assert.rejects(store.unpacked('quay.io/a/b'), {
    reason: 'NotFound',
    message: /^image "quay.io\/a\/b" is not in the local store; "virtctl image import" brings/,
  });
});

test('import copies and verifies every blob', async (t) => {
  const { dir, digest } = await storeWith(t);
  const other = openImageStore(join(await scratch(t), 'store'));
  assert.deepEqual(await other.importLayout(dir, 'quay.io/demo/disk:v1'), { digest });
  assert.equal(await readFile(join(await other.unpacked('quay.io/demo/disk:v1'), 'disk/disk.img'), 'utf8'), 'disk');
  assert.deepEqual(
    (await other.list()).map(({ reference }) => reference),
    ['quay.io/demo/disk:v1'],
  );
});

test('a blob that was tampered with is never used', async (t) => {
  const { dir, store, digest } = await storeWith(t);
  const { layers } = await readManifest(dir, readIndex(dir)[0]!);
  await appendFile(blobPath(dir, layers[0]!.digest), 'x');
  const other = openImageStore(join(await scratch(t), 'store'));
  await assert.rejects(other.importLayout(dir, 'localhost/x'), { message: /is corrupt: it has \d+ bytes/ });
  await assert.rejects(store.unpacked('localhost/guests/tiny'), { message: /is corrupt/ });
  assert.equal(existsSync(join(dir, 'unpacked', digest.replace(':', '-'))), false);

  const same = await readFile(blobPath(dir, layers[0]!.digest));
  await writeFile(blobPath(dir, layers[0]!.digest), same.subarray(0, -1).fill(0, 10, 11));
  await assert.rejects(store.unpacked('localhost/guests/tiny'), { message: /is corrupt: its digest is/ });
});

test('a folder that is no layout is refused', async (t) => {
  const { store } = await storeWith(t);
  await assert.rejects(store.importLayout(await scratch(t), 'localhost/x'), { message: /is not an OCI image layout/ });
});

test('a tag is one more name; the content goes with the last one', async (t) => {
  const { dir, store, digest } = await storeWith(t);
  store.tag('localhost/guests/tiny', 'quay.io/kubevirt/cirros');
  const path = await store.unpacked('quay.io/kubevirt/cirros');
  store.remove('localhost/guests/tiny');
  assert.equal(store.resolve('localhost/guests/tiny'), undefined);
  assert.equal(store.resolve('quay.io/kubevirt/cirros')?.digest, digest);
  assert.ok(existsSync(join(path, 'disk/disk.img')));
  store.remove('quay.io/kubevirt/cirros');
  assert.deepEqual(await readdir(join(dir, 'blobs/sha256')), []);
  assert.deepEqual(await readdir(join(dir, 'unpacked')), []);
});

test("two stores on one folder do not lose each other's names", async (t) => {
  const { dir, store } = await storeWith(t);
  const second = openImageStore(dir);
  const names = Array.from({ length: 20 }, (_, i) => `localhost/copy-${i}:latest`);
  for (const [i, name] of names.entries()) (i % 2 ? store : second).tag('localhost/guests/tiny', name);
  assert.deepEqual((await second.list()).map(({ reference }) => reference).sort(), [...names, 'localhost/guests/tiny:latest'].sort());
});

test('what a killed process left half unpacked is cleared away, what a running one works on is not', async (t) => {
  const { dir } = await storeWith(t);
  const self = (await readFile(`/proc/${process.pid}/stat`, 'utf8')).split(') ')[1]!.split(' ')[19];
  const mine = `.tmp-${process.pid}-${self}-x`;
  for (const name of [mine, '.tmp-1-99-x', `.tmp-${process.pid}-1-x`]) await mkdir(join(dir, 'unpacked', name), { recursive: true });
  openImageStore(dir);
  assert.deepEqual(await readdir(join(dir, 'unpacked')), [mine]);
});
