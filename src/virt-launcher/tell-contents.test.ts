import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { CONTENTS_FILE } from '../api/launcher/files.ts';
import type { DiskImage } from '../qemu/convert/input.ts';
import { tellContents } from './tell-contents.ts';

test('disks that are made of objects are told by digest, and those that differ from Pod to Pod are not', (t) => {
  const [before, folder] = [process.cwd(), mkdtempSync(join(tmpdir(), 'contents-'))];
  process.chdir(folder);
  t.after(() => process.chdir(before));
  writeFileSync('seed.iso', 'one');
  const image: DiskImage = { path: join(folder, 'seed.iso'), format: 'raw', isReadOnly: true };
  const volumes = [
    { name: 'seed', cloudInitNoCloud: { userData: '' } },
    { name: 'token', serviceAccount: { serviceAccountName: 'a' } },
    { name: 'unused', secret: { secretName: 's' } },
  ];
  const images = new Map([
    ['seed', image],
    ['token', image],
  ]);
  const told = () => {
    tellContents({ volumes }, images);
    return JSON.parse(readFileSync(CONTENTS_FILE, 'utf8')) as Record<string, string>;
  };
  const first = told();
  assert.deepEqual(Object.keys(first), ['seed']);
  assert.match(first['seed'] ?? '', /^[0-9a-f]{32}$/);
  writeFileSync('seed.iso', 'two');
  assert.notEqual(told()['seed'], first['seed']);
});
