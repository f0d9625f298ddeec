import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { builtLauncher, LAUNCHER_FILE, LAUNCHER_SOURCES } from './built-launcher.ts';

test('a launcher that is one file is used until one of its sources changes', (t) => {
  const { folder, source, file } = clone(t);
  assert.equal(builtLauncher(folder), file);
  utimesSync(source, 300, 300);
  assert.equal(builtLauncher(folder), undefined);
});

test('a launcher whose source is gone is not used', (t) => {
  const { folder, source } = clone(t);
  rmSync(source);
  assert.equal(builtLauncher(folder), undefined);
});

test('a clone without such a file runs its sources', (t) => {
  const { folder, file } = clone(t);
  rmSync(file);
  assert.equal(builtLauncher(folder), undefined);
});

/** The source is of the second 100, what was made of it of 200. */
function clone(t: { after(end: () => void): void }) {
  const root = mkdtempSync(join(tmpdir(), 'built-launcher-'));
  t.after(() => rmSync(root, { recursive: true }));
  const folder = join(root, 'launcher');
  const [source, file] = [join(root, 'source.ts'), join(folder, LAUNCHER_FILE)];
  mkdirSync(folder);
  writeFileSync(source, '');
  writeFileSync(file, '');
  writeFileSync(join(folder, LAUNCHER_SOURCES), JSON.stringify(['../source.ts']));
  utimesSync(source, 100, 100);
  utimesSync(file, 200, 200);
  return { folder, source, file };
}
