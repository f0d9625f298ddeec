import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, openSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../qemu/qmp/qemu.testing.ts';
import { BackupFiles } from './backup-files.ts';

const head = { folder: 'db/one', bytes: 100, disks: [{ volume: 'root', bytes: 2 ** 20 }] };

test('files have their names when they are whole, and not before', async (t) => {
  const folder = await temporaryFolder(t);
  const root = `/proc/self/fd/${openSync(folder, 'r')}`; // as in a Pod, where the folders above are closed
  const files = new BackupFiles(root, head);
  assert.deepEqual([readdirSync(root), files.paths], [['.db.backup.part'], ['.db.backup.part/one/root.qcow2']]);
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

test('machines that are backed up to one PVC at the same time do not meet', async (t) => {
  const root = await temporaryFolder(t);
  const first = new BackupFiles(root, head);
  writeFileSync(join(root, ...first.paths), 'first');
  const second = new BackupFiles(root, { ...head, folder: 'web/one' });
  writeFileSync(join(root, ...second.paths), 'second');
  new BackupFiles(root, { ...head, folder: 'mail/one' }).giveUp();
  second.finish();
  first.finish();
  const written = ['db', 'web'].map((name) => readFileSync(join(root, name, 'one/root.qcow2'), 'utf8'));
  assert.deepEqual(
    [written, readdirSync(root).toSorted()],
    [
      ['first', 'second'],
      ['db', 'web'],
    ],
  );
});

test('one that was given up leaves what the next try of its machine writes', async (t) => {
  const root = await temporaryFolder(t);
  const old = new BackupFiles(root, head);
  const next = new BackupFiles(root, { ...head, folder: 'db/two' });
  assert.throws(() => old.finish(), /ENOENT/);
  old.giveUp();
  next.finish();
  assert.deepEqual([readdirSync(root), readdirSync(join(root, 'db'))], [['db'], ['two']]);
});

test('one that cannot be begun leaves nothing', async (t) => {
  const root = await temporaryFolder(t);
  const disks = ['root', 'x'.repeat(300)].map((volume) => ({ volume, bytes: 2 ** 20 }));
  assert.throws(() => new BackupFiles(root, { ...head, disks }), /ENAMETOOLONG/);
  assert.deepEqual(readdirSync(root), []);
});

test('it is for the group of the PVC, and for nobody else, whatever the process takes away', async (t) => {
  const root = await temporaryFolder(t);
  const before = process.umask(0o077);
  t.after(() => process.umask(before));
  new BackupFiles(root, head).finish();
  const modes = globSync('**', { cwd: root }).map((path) => [path, (statSync(join(root, path)).mode & 0o777).toString(8)]);
  assert.deepEqual(modes.filter(([path]) => path !== '.').toSorted(), [
    ['db', '770'],
    ['db/one', '770'],
    ['db/one/backup.json', '660'],
    ['db/one/root.qcow2', '660'],
  ]);
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

test('one that finds nothing to write is seen to live', async (t) => {
  const root = await temporaryFolder(t);
  const files = new BackupFiles(root, head);
  const paths = ['.db.backup.part', '.db.backup.part/one', ...files.paths].map((path) => join(root, path));
  for (const path of paths) utimesSync(path, 1, 1);
  files.beat();
  new BackupFiles(root, { ...head, folder: 'web/one' }).finish();
  files.finish();
  assert.deepEqual(readdirSync(join(root, 'db/one')).toSorted(), ['backup.json', 'root.qcow2']);
  files.beat(); // has nothing to do any more
});
