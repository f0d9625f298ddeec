import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, linkSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openImageStore } from './store.ts';
import { writeImage } from './write-image.ts';

const NAME = 'localhost/guests/tiny';
const QEMU_USER = 107;

/** A store with one image, in a folder that everybody may walk through, as a data folder is. */
async function store(t: TestContext): Promise<{ base: string; dir: string; unpacked: () => Promise<string> }> {
  const base = mkdtempSync(join(tmpdir(), 'closed-store-'));
  t.after(() => rmSync(base, { recursive: true }));
  chmodSync(base, 0o711);
  writeFileSync(join(base, 'disk.img'), 'password');
  const dir = join(base, 'images');
  await writeImage({ dir, reference: NAME, files: [{ path: join(base, 'disk.img'), name: 'disk/disk.img' }] });
  return { base, dir, unpacked: () => openImageStore(dir).unpacked(NAME) };
}

/** Everything that others could read, list or walk through if they got to it; the unpacked files are behind a closed folder. */
function openToOthers(dir: string): string[] {
  return ['.', ...readdirSync(dir, { recursive: true, encoding: 'utf8' })].filter(
    (name) => !name.startsWith('unpacked/sha256') && (statSync(join(dir, name)).mode & 0o077) !== 0,
  );
}

test('nothing of a store is open to others', async (t) => {
  const { dir, unpacked } = await store(t);
  await unpacked();
  assert.deepEqual(openToOthers(dir), []);
});

test('a store that was open is closed when it is opened', async (t) => {
  const { dir, unpacked } = await store(t);
  await unpacked();
  for (const name of ['.', ...readdirSync(dir, { recursive: true, encoding: 'utf8' })]) {
    chmodSync(join(dir, name), statSync(join(dir, name)).isDirectory() ? 0o755 : 0o644);
  }
  openImageStore(dir);
  assert.deepEqual(openToOthers(dir), []);
});

test('QEMU’s user reads the disk through a hard link, and nothing else', { skip: process.getuid?.() !== 0 && 'needs root' }, async (t) => {
  const { base, dir, unpacked } = await store(t);
  const disk = join(await unpacked(), 'disk/disk.img');
  const link = join(base, 'base0');
  linkSync(disk, link);
  const reads = (path: string) => spawnSync('cat', [path], { uid: QEMU_USER, gid: QEMU_USER, encoding: 'utf8' }).stdout;
  assert.deepEqual([reads(link), reads(disk), reads(join(dir, 'index.json'))], ['password', '', '']);
});
