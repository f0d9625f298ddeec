import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openImageStore } from '../../images/store.ts';
import { writeImage } from '../../images/write-image.ts';
import type { Context } from '../context.ts';
import { importGuestImages } from './guest-images.ts';

test('every guest in the cache is imported, in its newest build', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'guests-'));
  t.after(() => rm(dir, { recursive: true }));
  const context = { home: join(dir, 'home'), cache: join(dir, 'cache') } as Context; // all that it looks at
  const build = async (name: string, hash: string, second: number) => {
    const layout = join(context.cache, 'guests', `${name}-${hash}`);
    await mkdir(layout, { recursive: true });
    await writeFile(join(dir, 'disk'), `${name} ${hash}`);
    const files = [{ path: join(dir, 'disk'), name: 'disk/disk.img' }];
    const { digest } = await writeImage({ dir: layout, reference: `localhost/guests/${name}:latest`, files });
    await utimes(layout, second, second);
    return digest;
  };
  await assert.rejects(importGuestImages(context), { code: 'GUEST_IMAGE_MISSING' });
  const newest = await build('tiny', 'a'.repeat(16), 20);
  await build('tiny', 'b'.repeat(16), 10);
  const other = await build('tiny32', 'c'.repeat(16), 30);
  await mkdir(join(context.cache, 'guests', 'build-xyz'));
  const [tiny, tiny32] = ['localhost/guests/tiny:latest', 'localhost/guests/tiny32:latest'];
  const note = `${tiny32} stands in for kubevirt/cirros-container-disk-demo and kubevirt/cirros-registry-disk-demo where they cannot be pulled`;
  assert.equal(await importGuestImages(context), `${tiny}, imported; ${tiny32}, imported; ${note}`);
  assert.equal(await importGuestImages(context), `${tiny}, was there; ${tiny32}, was there; ${note}`);
  const store = openImageStore(join(context.home, 'images'));
  assert.deepEqual([store.resolve('localhost/guests/tiny')?.digest, store.resolve('localhost/guests/tiny32')?.digest], [newest, other]);
});
