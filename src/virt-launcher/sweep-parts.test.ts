import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../qemu/qmp/qemu.testing.ts';
import { sweepParts } from './sweep-parts.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const HOUR = 60 * 60_000;

/** What is left of these paths; each is a file that was changed so long ago, as are the folders above it. */
async function leftOf(t: Parameters<typeof temporaryFolder>[0], paths: Readonly<Record<string, number>>): Promise<string[]> {
  const root = await temporaryFolder(t);
  for (const path of Object.keys(paths)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), 'half');
  }
  for (const [path, ageMs] of Object.entries(paths).toSorted(([, a], [, b]) => b - a)) {
    const at = new Date(NOW - ageMs);
    for (let each = path; each !== '.'; each = dirname(each)) utimesSync(join(root, each), at, at);
  }
  sweepParts(root, NOW);
  return readdirSync(root).toSorted();
}

test('what nobody has changed for an hour goes, dumps and backups, also as an earlier release called them', async (t) => {
  const old = HOUR + 1;
  const left = await leftOf(t, {
    '.gone.backup.part/monday/root.qcow2': old,
    '.backup.part/root.qcow2': old,
    'gone-dump-20260101-101010.memory.dump.part': old,
    'disk.img.unfinished-0123456789abcdef': old,
    'disk.img.format.01234567-89ab-cdef-0123-456789abcdef.tmp': old,
  });
  assert.deepEqual(left, []);
});

test('what is written stays, though only one of its files is', async (t) => {
  const left = await leftOf(t, {
    '.db.backup.part/monday/root.qcow2': 3 * HOUR,
    '.db.backup.part/monday/data.qcow2': HOUR - 1,
    'db-dump-20260101-101010.memory.dump.part': 0,
  });
  assert.deepEqual(left, ['.db.backup.part', 'db-dump-20260101-101010.memory.dump.part']);
});

test('nothing else is touched, however old it is', async (t) => {
  const paths = { 'db/monday/root.qcow2': HOUR * 99, 'db-dump-20260101-101010.memory.dump': HOUR * 99, 'notes.part': HOUR * 99 };
  assert.deepEqual(await leftOf(t, { ...paths, '.backup.parts/x': HOUR * 99 }), ['.backup.parts', 'db', ...Object.keys(paths).slice(1)]);
  const [root, elsewhere] = [await temporaryFolder(t), await temporaryFolder(t)];
  writeFileSync(join(elsewhere, 'file'), 'mine');
  symlinkSync(elsewhere, join(root, '.db.backup.part'));
  sweepParts(root, NOW * 2);
  assert.deepEqual([readdirSync(root), readdirSync(elsewhere)], [['.db.backup.part'], ['file']]);
});
