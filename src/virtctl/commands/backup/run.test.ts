import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { UserError } from '../../../base/errors.ts';
import { explainSystemError } from '../../../base/node/system-error.ts';
import { openStore } from '../../../control-plane/store/store.ts';
import { testDeps } from '../../deps.testing.ts';
import { checkStore, putBackWhatWasSetAside } from '../../embedded/store-file.ts';
import { run as restore } from '../restore/run.ts';
import { run as backup } from './run.ts';

function home(t: TestContext, { mebibytes }: { readonly mebibytes?: number } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'backup-'));
  if (mebibytes !== undefined) execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', folder]);
  t.after(() => {
    if (mebibytes !== undefined) execFileSync('umount', ['-l', folder]);
    rmSync(folder, { recursive: true });
  });
  const { deps, stdout, stderr } = testDeps({}, { home: folder });
  return { deps, path: join(folder, 'store.db'), file: join(folder, 'saved'), stdout, stderr };
}

test('what was backed up comes back, and versions only grow', async (t) => {
  const { deps, path, file, stdout } = home(t);
  const first = openStore({ path });
  await first.write({ key: 'core/configmaps/default/kept', value: { n: 1 } });
  await first.write({ key: 'core/configmaps/default/gone', value: { n: 1 } });
  await first.write({ key: 'core/configmaps/default/gone', value: undefined });
  first.close();
  await backup(deps, {}, file);
  assert.equal(statSync(file).mode & 0o077, 0);
  const second = openStore({ path });
  const { revision } = await second.write({ key: 'core/configmaps/default/kept', value: { n: 2 } });
  second.close();
  await restore(deps, { salvage: false, adopt: false }, file);
  const third = openStore({ path });
  t.after(() => third.close());
  assert.deepEqual(
    third.list('').map(({ key, value }) => [key, value]),
    [['core/configmaps/default/kept', { n: 1 }]],
  );
  assert.ok(third.revision > revision);
  assert.throws(() => third.watch('', revision, () => {}), /too old resource version/);
  const next = await third.write({ key: 'core/configmaps/default/new', value: {} });
  assert.ok(next.revision > revision);
  assert.ok(existsSync(`${path}.before-restore`));
  assert.match(stdout(), /1 objects are in .*1 objects are restored/s);
});

test('what is no backup is refused and changes nothing', async (t) => {
  const { deps, path, file } = home(t);
  const store = openStore({ path });
  await store.write({ key: 'core/configmaps/default/a', value: {} });
  store.close();
  writeFileSync(file, 'not a database, whatever it looks like');
  const isRefused = (code: string) => (error: unknown) => error instanceof UserError && error.code === code;
  await assert.rejects(restore(deps, { salvage: false, adopt: false }, file), isRefused('BACKUP_DAMAGED'));
  await assert.rejects(restore(deps, { salvage: false, adopt: false }, join(deps.home, 'nowhere')), isRefused('NO_BACKUP'));
  const after = openStore({ path });
  assert.equal(after.list('').length, 1);
  after.close();
});

test('nothing to back up is said, and nothing else', async (t) => {
  const { deps, file, stderr } = home(t);
  await assert.rejects(backup(deps, {}, file), (error: unknown) => error instanceof UserError && error.code === 'NO_CLUSTER');
  assert.equal(stderr(), '');
});

test('100,000 records are backed up with seconds of work, and a killed backup leaves nothing behind the next time', async (t) => {
  const { deps, path, file, stdout } = home(t);
  const store = openStore({ path, historySize: 100_000 });
  for (let n = 0; n < 100; n += 1) {
    const batch = Array.from({ length: 1000 }, (_, i) => ({ key: `core/configmaps/default/${(n * 1000 + i) % 50_000}`, value: { n, i } }));
    await Promise.all(batch.map((operation) => store.write(operation)));
  }
  store.close();
  for (const part of ['', '-wal', '-shm', '-journal']) writeFileSync(`${file}.unfinished${part}`, 'of a backup that was killed');
  const before = process.cpuUsage();
  await backup(deps, {}, file);
  const { user, system } = process.cpuUsage(before); // of a busy machine the clock says nothing
  assert.ok(user + system < 8_000_000, `${user + system} µs`);
  assert.match(stdout(), /^50000 objects/);
  assert.deepEqual(
    readdirSync(deps.home).filter((name) => name.startsWith('saved')),
    ['saved'],
  );
});

test('of a damaged store everything that is whole is brought back, and what is lost is named', async (t) => {
  const { deps, path, stdout } = home(t);
  const store = openStore({ path });
  for (const n of [1, 2, 3]) await store.write({ key: `core/configmaps/default/c${n}`, value: { n, text: 'x'.repeat(100) } });
  const { revision } = store;
  store.close();
  const bytes = readFileSync(path);
  bytes[bytes.indexOf('{"n":2,') + 50] = 0x79;
  writeFileSync(path, bytes);
  assert.throws(() => openStore({ path }), /is damaged/);
  const { problems } = checkStore(path);
  assert.deepEqual(problems, ['record 2 (core/configmaps/default/c2) does not match its checksum', 'all is well up to revision 1']);
  await restore(deps, { salvage: true, adopt: false });
  assert.match(stdout(), /^2 objects are restored.*up to revision 1;.*record 2 \(core\/configmaps\/default\/c2\) is lost/s);
  const after = openStore({ path });
  t.after(() => after.close());
  assert.deepEqual(
    after.list('').map(({ key }) => key),
    ['core/configmaps/default/c1', 'core/configmaps/default/c3'],
  );
  assert.ok(after.revision > revision);
});

const noMount = process.getuid?.() === 0 ? false : 'only root can mount a small disk';

test('on a full disk nothing is said to be damaged, and nothing is', { skip: noMount }, async (t) => {
  const { deps, path, file } = home(t, { mebibytes: 8 });
  const store = openStore({ path });
  for (let n = 0; n < 40; n += 1) await store.write({ key: `core/configmaps/default/c${n}`, value: { text: 'x'.repeat(50_000) } });
  store.close();
  const saved = `${deps.home}-saved`;
  t.after(() => rmSync(saved));
  await backup(deps, {}, saved);
  const isFull = { name: 'UserError', code: 'DISK_FULL' };
  const refused = (work: Promise<unknown>) =>
    assert.rejects(work, (error) => {
      const { name, code } = explainSystemError(error) ?? (error as UserError);
      assert.deepEqual({ name, code }, isFull, String(error));
      return true;
    });
  for (const leftKiB of [0, 100, 1_000, 2_100]) {
    fill(join(deps.home, 'filler'), leftKiB * 1024);
    await refused(restore(deps, { salvage: true, adopt: false })); // which has two copies for a while
    if (leftKiB < 2_000) await refused(restore(deps, { salvage: false, adopt: false }, saved));
    if (leftKiB < 2_000) await refused(backup(deps, {}, file));
    rmSync(join(deps.home, 'filler'));
    const left = readdirSync(deps.home).filter((name) => !/^store\.db-(wal|shm)$/.test(name)); // those are SQLite's, and it uses them again
    assert.deepEqual(left.sort(), ['run', 'store.db', 'store.json'], `${leftKiB} KiB left`);
  }
  assert.deepEqual(checkStore(path).problems, []);
});

/** Until no more than this is left. */
function fill(path: string, leftBytes: number): void {
  const fd = openSync(path, 'w');
  try {
    for (const bytes of [65_536, 4_096]) {
      for (let isFull = false; !isFull; ) {
        try {
          isFull = writeSync(fd, Buffer.alloc(bytes)) < bytes;
        } catch {
          isFull = true;
        }
      }
    }
    ftruncateSync(fd, Math.max(0, fstatSync(fd).size - leftBytes));
  } finally {
    closeSync(fd);
  }
}

test('a restore that was killed while it put the store in place is undone, and can be given again', async (t) => {
  const { deps, path, file } = home(t);
  const store = openStore({ path });
  await store.write({ key: 'core/configmaps/default/mine', value: {} });
  store.close();
  await backup(deps, {}, file);
  const other = openStore({ path });
  await other.write({ key: 'core/configmaps/default/later', value: {} });
  other.close();
  const names = () => {
    const opened = openStore({ path });
    try {
      return opened.list('').map(({ key }) => key.split('/').at(-1));
    } finally {
      opened.close();
    }
  };
  // As it is between the two steps.
  writeFileSync(`${path}.ready`, 'whole');
  writeFileSync(`${path}.before-restore-wal`, 'of this store');
  renameSync(path, `${path}.before-restore`);
  putBackWhatWasSetAside(path);
  assert.equal(readFileSync(`${path}-wal`, 'utf8'), 'of this store');
  rmSync(`${path}-wal`);
  assert.deepEqual([names(), existsSync(`${path}.ready`)], [['later', 'mine'], false]);

  writeFileSync(`${path}.ready`, 'whole');
  renameSync(path, `${path}.before-restore`);
  await restore(deps, { salvage: false, adopt: false }, file);
  assert.deepEqual(names(), ['mine']);
  renameSync(`${path}.before-restore`, path);
  assert.deepEqual(names(), ['later', 'mine'], 'what was in place is kept');
});
