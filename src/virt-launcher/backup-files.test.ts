import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, openSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../qemu/qmp/qemu.testing.ts';
import { BackupFiles } from './backup-files.ts';

const head = { folder: 'db/one', bytes: 100, disks: [{ volume: 'root', bytes: 2 ** 20 }] };

test('files have their names when they are whole, and not before', async (t) => {
  const folder = await temporaryFolder(t);
  const root = `/proc/self/fd/${openSync(folder, 'r')}`; // as in a Pod, where the folders above are closed
  const files = new BackupFiles(root, head);
  assert.deepEqual([readdirSync(root), files.paths], [['.backup.part'], ['.backup.part/root.qcow2']]);
  assert.ok(files.finish() > 0);
  assert.deepEqual([readdirSync(root), readdirSync(join(root, 'db', 'one')).toSorted()], [['db'], ['backup.json', 'root.qcow2']]);
  assert.equal(JSON.parse(readFileSync(join(root, 'db', 'one', 'backup.json'), 'utf8')).type, 'Full');
});

test('an incremental one names what it builds on, as qemu-img reads it', async (t) => {
  const root = await temporaryFolder(t);
  new BackupFiles(root, head).finish();
  new BackupFiles(root, { ...head, folder: 'db/two', base: 'one' }).finish();
  const said = JSON.parse(execFileSync('qemu-img', ['info', '--output=json', join(root, 'db/two/root.qcow2')], { encoding: 'utf8' }));
  assert.deepEqual([said['backing-filename'], said['backing-filename-format']], ['../one/root.qcow2', 'qcow2']);
  execFileSync('qemu-img', ['check', '-q', join(root, 'db/two/root.qcow2')]);
});

test('what was given up, or killed, leaves nothing', async (t) => {
  const root = await temporaryFolder(t);
  new BackupFiles(root, head).giveUp();
  assert.deepEqual(readdirSync(root), []);
  new BackupFiles(root, head);
  new BackupFiles(root, head).finish();
  assert.deepEqual(readdirSync(root), ['db']);
});

test('a PVC that cannot take it is told before anything is written', async (t) => {
  const root = await temporaryFolder(t);
  assert.throws(() => new BackupFiles(root, { ...head, bytes: 2 ** 50 }), /the PVC has \d+ MiB left, the backup needs/);
  mkdirSync(join(root, 'db/one'), { recursive: true });
  assert.throws(() => new BackupFiles(root, head), /the PVC has db\/one already/);
  writeFileSync(join(root, 'disk.img'), '');
  assert.throws(() => new BackupFiles(root, head), /the PVC is the disk of a machine/);
  assert.deepEqual(readdirSync(root).toSorted(), ['db', 'disk.img']);
});

test('a link in the place of its folder is not followed', async (t) => {
  const [root, elsewhere] = [await temporaryFolder(t), await temporaryFolder(t)];
  symlinkSync(elsewhere, join(root, 'db'));
  assert.throws(() => new BackupFiles(root, head), /db on the PVC is not a folder/);
  assert.deepEqual(readdirSync(elsewhere), []);
});
