import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { UserError } from '../../../base/errors.ts';
import { openStore } from '../../../control-plane/store/store.ts';
import { testDeps } from '../../deps.testing.ts';
import { checkStore } from '../../embedded/store-file.ts';
import { run as restore } from '../restore/run.ts';
import { run as backup } from './run.ts';

function home(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'backup-'));
  t.after(() => rmSync(folder, { recursive: true }));
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
  for (const part of ['', '-wal', '-shm']) writeFileSync(`${file}.unfinished${part}`, 'of a backup that was killed');
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
