import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { readManifests } from './read-manifests.ts';

let folder: string;
let keptIn: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'manifests-'));
  keptIn = mkdtempSync(join(tmpdir(), 'kept-'));
});
afterEach(() => {
  for (const each of [folder, keptIn]) rmSync(each, { recursive: true });
});

const write = (name: string) => writeFileSync(join(folder, 'a.yaml'), `kind: Namespace\nmetadata:\n  name: ${name}\n`);
const names = (kept = keptIn) => readManifests(folder, { keptIn: kept }).map(({ metadata }) => metadata.name);

test('what was read is kept, until a file changes', () => {
  write('a');
  assert.deepEqual([names(), names()], [['a'], ['a']]);
  write('b');
  assert.deepEqual(names(), ['b']);
});

test('half of what was kept is as good as nothing', () => {
  write('a');
  names();
  const [file = ''] = readdirSync(join(keptIn, 'manifests'));
  writeFileSync(join(keptIn, 'manifests', file), '{"digest":');
  assert.deepEqual(names(), ['a']);
});

test('a folder that cannot be written costs only time', () => {
  write('a');
  assert.deepEqual(names(join(folder, 'a.yaml', 'no-folder')), ['a']);
});
