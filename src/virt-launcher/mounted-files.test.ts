import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readMountedFiles, requireAnswerFile } from './mounted-files.ts';

/** A volume as a kubelet writes it: the files in a dated folder, and links to them. */
function volume(t: { after(fn: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'mounted-files-'));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, '..2026_01_01/sub'), { recursive: true });
  writeFileSync(join(folder, '..2026_01_01/a.txt'), 'A');
  writeFileSync(join(folder, '..2026_01_01/sub/b'), Buffer.from([0, 255]));
  symlinkSync('..2026_01_01', join(folder, '..data'));
  for (const name of ['a.txt', 'sub']) symlinkSync(`..data/${name}`, join(folder, name));
  return folder;
}

test('files are read through the links of the kubelet, once each, with their bytes', (t) => {
  assert.deepEqual(readMountedFiles(volume(t)), { 'a.txt': Buffer.from('A'), 'sub/b': Buffer.from([0, 255]) });
});

test('more than a small disk takes is refused before it is read', (t) => {
  const folder = volume(t);
  writeFileSync(join(folder, 'large'), '');
  truncateSync(join(folder, 'large'), 2 ** 40);
  assert.throws(() => readMountedFiles(folder), { code: 'VOLUME_TOO_LARGE' });
});

test('folders that lead into themselves end', (t) => {
  const folder = volume(t);
  symlinkSync('.', join(folder, 'self'));
  assert.throws(() => readMountedFiles(folder), { code: 'VOLUME_TOO_LARGE' });
});

test('an answer file is found by either name, however it is written', () => {
  for (const name of ['autounattend.xml', 'Autounattend.xml', 'Unattend.xml']) requireAnswerFile({ [name]: '' });
  assert.throws(() => requireAnswerFile({ 'answers.xml': '' }), { code: 'SYSPREP_INVALID' });
});
