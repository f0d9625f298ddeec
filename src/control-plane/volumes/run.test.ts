import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { EVENTS } from '../../api/core/event.ts';
import { PODS } from '../../api/core/pod.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  type PersistentVolume,
  type PersistentVolumeClaim,
  STORAGE_CLASSES,
} from '../../api/core/volume.ts';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { until } from '../../testing/until.ts';
import { startTestServer } from '../apiserver/test-server.testing.ts';
import { FolderCopies } from './folder-copies.ts';
import { runVolumes } from './run.ts';
import { claim, storageClass, volume } from './volume.testing.ts';

const DATA = { namespace: 'default', name: 'data' };

async function start(t: TestContext) {
  const dir = await mkdtemp(join(tmpdir(), 'volumes-'));
  const { client, close } = await startTestServer();
  const stop = new AbortController();
  const ended = runVolumes({
    client,
    clock: systemClock,
    log: silentLogger,
    signal: stop.signal,
    volumesDir: dir,
    copies: new FolderCopies(systemClock),
  });
  t.after(async () => {
    stop.abort();
    await ended;
    close();
    await rm(dir, { recursive: true });
  });
  await client.create(STORAGE_CLASSES, storageClass());
  const create = (spec: Partial<PersistentVolumeClaim['spec']> = {}) => {
    const { metadata, ...rest } = claim(spec);
    return client.create(PERSISTENT_VOLUME_CLAIMS, { ...rest, metadata: { name: metadata.name, namespace: metadata.namespace } });
  };
  const get = () => client.get(PERSISTENT_VOLUME_CLAIMS, DATA);
  const bound = async () => {
    await until(async () => (await get())?.status?.phase === 'Bound', 'the claim to be bound');
    const found = (await client.get(PERSISTENT_VOLUMES, { name: (await get())?.spec.volumeName ?? '' })) as PersistentVolume; // it is bound
    return { path: found.spec.hostPath?.path ?? '', name: found.metadata.name };
  };
  const events = async () => (await client.list(EVENTS)).items.map(({ reason, message }) => `${reason}: ${message}`);
  return { client, dir, create, get, bound, events };
}

test('a claim without a class gets a folder of its own, and the folder goes with the claim', async (t) => {
  const { client, dir, create, get, bound, events } = await start(t);
  const { metadata } = await create({ storageClassName: undefined });
  const { path, name } = await bound();
  assert.equal(path, join(dir, `pvc-${metadata.uid}`));
  assert.deepEqual((await get())?.status, { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } });
  await until(async () => (await client.get(PERSISTENT_VOLUMES, { name }))?.status?.phase === 'Bound', 'the volume to be bound');
  await until(async () => (await events()).includes(`ProvisioningSucceeded: Successfully provisioned volume ${name}`), 'the event');
  await mkdir(path);
  await writeFile(join(path, 'disk.img'), 'data');
  await client.delete(PERSISTENT_VOLUME_CLAIMS, DATA);
  await until(async () => (await client.get(PERSISTENT_VOLUMES, { name })) === undefined, 'the volume to go');
  assert.equal(existsSync(path), false);
});

test('a claim in use stays, with its data, until the Pod is gone', async (t) => {
  const { client, create, get, bound } = await start(t);
  await create();
  const { path } = await bound();
  await mkdir(path);
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }];
  const pod = { namespace: 'default', name: 'user' };
  await client.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: pod, spec: { containers: [{ name: 'c', image: 'i' }], volumes } });
  await client.delete(PERSISTENT_VOLUME_CLAIMS, DATA);
  assert.ok((await get())?.metadata.deletionTimestamp);
  assert.ok(existsSync(path));
  await client.delete(PODS, pod, { gracePeriodSeconds: 0 });
  await until(async () => (await get()) === undefined, 'the claim to go');
  await until(() => !existsSync(path), 'the folder to go');
});

test('a volume that says it is ours but lies elsewhere keeps its data', async (t) => {
  const { client, dir } = await start(t);
  const outside = join(dir, 'outside');
  await mkdir(outside);
  const forged = volume({
    hostPath: { path: outside },
    persistentVolumeReclaimPolicy: 'Delete',
    claimRef: { namespace: 'default', name: 'gone', uid: 'gone' },
  });
  const annotations = { 'pv.kubernetes.io/provisioned-by': 'kubevirt-ts.io/local' };
  await client.create(PERSISTENT_VOLUMES, { ...forged, metadata: { name: 'forged', annotations } });
  await until(async () => (await client.get(PERSISTENT_VOLUMES, { name: 'forged' })) === undefined, 'the volume to go');
  assert.ok(existsSync(outside));
});

test('a claim waits for a class to appear', async (t) => {
  const { client, create, bound, events } = await start(t);
  await create({ storageClassName: 'fast' });
  await until(async () => (await events()).includes('ProvisioningFailed: storageclass.storage.k8s.io "fast" not found'), 'the event');
  await client.create(STORAGE_CLASSES, { ...storageClass(false), metadata: { name: 'fast' } });
  await bound();
});

test('what no file can be is refused, and can be taken back', async (t) => {
  const { client, create, get, bound, events } = await start(t);
  await create();
  await bound();
  const ask = (storage: string) => client.patch(PERSISTENT_VOLUME_CLAIMS, DATA, { spec: { resources: { requests: { storage } } } });
  await ask('8Ei');
  const why = /^VolumeResizeFailed: a volume of 8Ei is too large for the file system of the cluster's data folder: at most \d+[MGTP]i$/;
  await until(async () => (await events()).some((each) => why.test(each)), 'the event');
  assert.deepEqual((await get())?.status?.capacity, { storage: '1Gi' });
  assert.match(JSON.stringify((await get())?.status?.conditions), /ControllerResizeError/);
  await ask('1Gi');
  await until(async () => !(await get())?.status?.conditions?.length, 'the refusal to go');
  assert.equal((await get())?.status?.allocatedResourceStatuses, undefined);
});
