import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { EVENTS } from '../../api/core/event.ts';
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES } from '../../api/core/volume.ts';
import { VOLUME_SNAPSHOT_CONTENTS, VOLUME_SNAPSHOTS, type VolumeSnapshot } from '../../api/core/volume-snapshot.ts';
import type { KubeObject } from '../../api/meta.ts';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { until } from '../../testing/until.ts';
import { startTestServer } from '../apiserver/test-server.testing.ts';
import { runStorage } from './run-storage.ts';
import { claim, storageClass } from './volume.testing.ts';

const DEFINITIONS = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions', kind: 'CustomResourceDefinition' };
const manifest = readFileSync(join(import.meta.dirname, '../../cmd/embedded/manifests/volume-snapshots.yaml'), 'utf8');
const BEFORE = { namespace: 'default', name: 'before' };

/** The whole storage on a real API server, with the definitions that the embedded cluster brings. */
async function start(t: TestContext) {
  const dir = await mkdtemp(join(tmpdir(), 'snapshots-'));
  const { client, close } = await startTestServer();
  for (const document of parseAllDocuments(manifest)) {
    const object = document.toJS() as KubeObject;
    if (object.kind === DEFINITIONS.kind) await client.create({ ...DEFINITIONS, isNamespaced: false }, object);
  }
  await client.create(STORAGE_CLASSES, storageClass());
  let { stop, ended } = run();
  t.after(async () => {
    await kill();
    close();
    await rm(dir, { recursive: true });
  });
  function run() {
    const stop = new AbortController();
    return { stop, ended: runStorage({ client, clock: systemClock, log: silentLogger, signal: stop.signal, volumesDir: dir }) };
  }
  async function kill() {
    stop.abort();
    await ended;
  }
  const restart = () => ({ stop, ended } = run());
  const make = async (name: string, from?: string, volumeMode?: 'Block') => {
    const { metadata: _, status: __, ...rest } = claim();
    const dataSource =
      from === undefined ? {} : { dataSource: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: from } };
    const metadata = { namespace: 'default', name };
    await client.create(PERSISTENT_VOLUME_CLAIMS, {
      ...rest,
      metadata,
      spec: { ...rest.spec, ...dataSource, ...(volumeMode && { volumeMode }) },
    });
  };
  const folderOf = async (name: string) => {
    const at = { namespace: 'default', name };
    await until(async () => (await client.get(PERSISTENT_VOLUME_CLAIMS, at))?.status?.phase === 'Bound', `${name} to be bound`);
    const { spec } = (await client.get(PERSISTENT_VOLUME_CLAIMS, at)) as { spec: { volumeName?: string } };
    return (await client.get(PERSISTENT_VOLUMES, { name: spec.volumeName ?? '' }))?.spec.hostPath?.path ?? '';
  };
  const snapshotOf = (name: string) =>
    client.create(VOLUME_SNAPSHOTS, {
      apiVersion: 'snapshot.storage.k8s.io/v1',
      kind: 'VolumeSnapshot',
      metadata: BEFORE,
      spec: { source: { persistentVolumeClaimName: name } },
    } as VolumeSnapshot);
  const snapshot = () => client.get(VOLUME_SNAPSHOTS, BEFORE);
  const ready = () => until(async () => (await snapshot())?.status?.readyToUse === true, 'the snapshot to be ready');
  return { client, dir, make, folderOf, snapshotOf, snapshot, ready, kill, restart };
}

test('a claim that is made from a snapshot begins with what the other held then, and the data goes with the snapshot', async (t) => {
  const { client, dir, make, folderOf, snapshotOf, snapshot, ready } = await start(t);
  await make('data');
  const folder = await folderOf('data');
  mkdirSync(folder);
  writeFileSync(join(folder, 'disk.img'), 'before');
  await snapshotOf('data');
  await ready();
  writeFileSync(join(folder, 'disk.img'), 'after');
  const { boundVolumeSnapshotContentName: content, restoreSize, creationTime } = (await snapshot())?.status ?? {};
  assert.deepEqual([restoreSize, !Number.isNaN(Date.parse(creationTime ?? ''))], ['1Gi', true]);
  await make('copy', 'before');
  assert.equal(readFileSync(join(await folderOf('copy'), 'disk.img'), 'utf8'), 'before');
  await client.delete(VOLUME_SNAPSHOTS, BEFORE);
  await until(async () => (await snapshot()) === undefined, 'the snapshot to go');
  assert.equal(await client.get(VOLUME_SNAPSHOT_CONTENTS, { name: content ?? '' }), undefined);
  assert.deepEqual(
    readdirSync(dir).filter((name) => !name.startsWith('pvc-')),
    [],
  );
  assert.equal(readFileSync(join(folder, 'disk.img'), 'utf8'), 'after');
});

test('what a device held does not become a folder, nor the other way round', async (t) => {
  const { client, make, folderOf, snapshotOf, ready } = await start(t);
  await make('data', undefined, 'Block');
  const folder = await folderOf('data');
  mkdirSync(folder);
  writeFileSync(join(folder, 'disk.img'), 'blocks');
  await snapshotOf('data');
  await ready();
  await make('copy', 'before', 'Block');
  assert.equal(readFileSync(join(await folderOf('copy'), 'disk.img'), 'utf8'), 'blocks');
  await make('files', 'before');
  const events = async () => (await client.list(EVENTS)).items.map(({ message }) => message);
  const refused = 'volumesnapshot "before" is of a PVC with volumeMode Block, and this one has Filesystem';
  await until(async () => (await events()).includes(refused), 'the event');
});

test('a snapshot whose taker was killed half-way is taken again, and no claim is made from half of one', async (t) => {
  const { dir, make, folderOf, snapshotOf, ready, kill, restart } = await start(t);
  await make('data');
  const folder = await folderOf('data');
  mkdirSync(folder);
  writeFileSync(join(folder, 'disk.img'), 'whole');
  await kill();
  const { metadata } = await snapshotOf('data');
  const half = join(dir, `snapshot-${metadata.uid}.unfinished`);
  mkdirSync(half);
  writeFileSync(join(half, 'disk.img'), 'wh');
  await make('copy', 'before');
  restart();
  await ready();
  assert.equal(readFileSync(join(await folderOf('copy'), 'disk.img'), 'utf8'), 'whole');
  assert.equal(existsSync(half), false);
});

test('what cannot be is told: a claim that is missing, a snapshot that is missing, and a source of another kind', async (t) => {
  const { client, make, snapshotOf, snapshot } = await start(t);
  await snapshotOf('nothing');
  await until(async () => (await snapshot())?.status?.error?.message === 'persistentvolumeclaim "nothing" not found', 'the error');
  await make('copy', 'never');
  const events = async () => (await client.list(EVENTS)).items.map(({ message }) => message);
  await until(async () => (await events()).includes('volumesnapshot "never" not found'), 'the event of the snapshot');
  const { metadata: _, status: __, ...rest } = claim({ dataSource: { kind: 'PersistentVolumeClaim', name: 'data' } });
  await client.create(PERSISTENT_VOLUME_CLAIMS, { ...rest, metadata: { namespace: 'default', name: 'clone' } });
  const refused = 'class local cannot make a volume from PersistentVolumeClaim data, only from a VolumeSnapshot';
  await until(async () => (await events()).includes(refused), 'the event of the other source');
});

test('a claim that is deleted before its data is whole leaves none behind', async (t) => {
  const { client, dir, make, kill, restart } = await start(t);
  await make('copy', 'never');
  const at = { namespace: 'default', name: 'copy' };
  await until(async () => (await client.get(PERSISTENT_VOLUME_CLAIMS, at))?.metadata.finalizers?.length === 1, 'the protection');
  const { uid } = (await client.get(PERSISTENT_VOLUME_CLAIMS, at))?.metadata ?? {};
  await kill();
  mkdirSync(join(dir, `pvc-${uid}.unfinished`));
  await client.delete(PERSISTENT_VOLUME_CLAIMS, at);
  restart();
  await until(async () => (await client.get(PERSISTENT_VOLUME_CLAIMS, at)) === undefined, 'the claim to go');
  assert.deepEqual(readdirSync(dir), []);
});
