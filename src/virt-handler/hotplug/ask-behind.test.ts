import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BEHIND_FILE } from '../../api/launcher/files.ts';
import type { DiskImage } from '../../qemu/convert/input.ts';
import { temporaryFolder } from '../../qemu/qmp/qemu.testing.ts';
import { tellBehind } from '../../virt-launcher/tell-behind.ts';
import { askBehind } from './ask-behind.ts';

test('what a launcher leaves is read', async (t) => {
  const [before, folder] = [process.cwd(), await temporaryFolder(t)];
  process.chdir(folder);
  t.after(() => process.chdir(before));
  assert.deepEqual(await askBehind(folder), []);
  const image: DiskImage = { path: 'disk', format: 'raw' };
  tellBehind(
    new Map<string, DiskImage>([
      ['root', image],
      ['data', { ...image, isBehind: true }],
    ]),
  );
  assert.deepEqual(await askBehind(folder), ['data']);
});

test('what is no list of names, and what leads elsewhere, is nothing', async (t) => {
  const folder = await temporaryFolder(t);
  for (const text of ['{"data":1}', 'data', '[1,{}]']) {
    writeFileSync(join(folder, BEHIND_FILE), text);
    assert.deepEqual(await askBehind(folder), []);
  }
  const other = await temporaryFolder(t);
  writeFileSync(join(other, 'x'), '["data"]');
  symlinkSync(join(other, 'x'), join(other, BEHIND_FILE));
  assert.deepEqual(await askBehind(other), []);
});
