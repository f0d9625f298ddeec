import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, readlinkSync, renameSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { EVENTS } from '../../api/core/event.ts';
import { PODS, type Pod } from '../../api/core/pod.ts';
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, type PersistentVolume } from '../../api/core/volume.ts';
import { until } from '../../testing/until.ts';
import { sh, testNode } from './node.testing.ts';
import { prepareVolumes } from './volumes.ts';

const DATA = { namespace: 'default', name: 'data' };
const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }];
const writer = sh('echo kept > $CONTAINER_SANDBOX_MOUNT_POINT/data/file', { volumeMounts: [{ name: 'v', mountPath: '/data' }] });

/** A node with a claim that waits for the volume `v1`, which is a folder. */
async function nodeWithClaim(t: TestContext, spec: Partial<PersistentVolume['spec']> = {}) {
  const node = await testNode(t);
  const { client, dir } = node;
  const path = join(dir, 'volume');
  const { metadata } = await client.create(PERSISTENT_VOLUME_CLAIMS, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: DATA,
    spec: { accessModes: ['ReadWriteOnce'], volumeName: 'v1', resources: { requests: { storage: '1Gi' } } },
  });
  const bind = async (as: object = { annotations: { 'pv.kubernetes.io/provisioned-by': 'kubevirt-ts.io/local' } }) => {
    await client.create(PERSISTENT_VOLUMES, {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'v1', ...as },
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '1Gi' },
        claimRef: { ...DATA, uid: metadata.uid },
        hostPath: { path, type: 'DirectoryOrCreate' },
        ...spec,
      },
    });
    await client.patch(PERSISTENT_VOLUME_CLAIMS, DATA, { status: { phase: 'Bound' } }, { subresource: 'status' });
  };
  return { ...node, path, bind };
}

test('the folder of a claim is made, mounted, and outlives the Pod', async (t) => {
  const { bind, path, start, run, when, gone, client } = await nodeWithClaim(t);
  await bind();
  start();
  await run('one', { restartPolicy: 'Never', containers: [writer], volumes });
  await when('one', ({ status }) => status?.phase === 'Succeeded');
  assert.equal(statSync(path).mode & 0o777, 0o700);
  await client.delete(PODS, { namespace: 'default', name: 'one' });
  await gone('one');
  assert.equal(readFileSync(join(path, 'file'), 'utf8'), 'kept\n');
});

test('a Pod waits for its claim and says so', async (t) => {
  const { bind, start, run, when, client } = await nodeWithClaim(t);
  start();
  await run('one', { restartPolicy: 'Never', containers: [writer], volumes });
  const messages = async () => (await client.list(EVENTS)).items.map(({ message }) => message);
  await until(async () => (await messages()).includes('persistentvolumeclaim "data" is not bound yet'), 'the event');
  await bind();
  await when('one', ({ status }) => status?.phase === 'Succeeded');
});

test('a folder that an administrator points at keeps its owner and mode', async (t) => {
  const { bind, path, start, run, when, client } = await nodeWithClaim(t);
  mkdirSync(path, { mode: 0o755 });
  await bind();
  await client.patch(PERSISTENT_VOLUMES, { name: 'v1' }, { metadata: { annotations: null } });
  start();
  await run('one', { restartPolicy: 'Never', containers: [writer], volumes });
  await when('one', ({ status }) => status?.phase === 'Succeeded');
  assert.equal(statSync(path).mode & 0o777, 0o755);
});

test('a claim in Block mode is a device alone: who mounts it as a folder, or a folder as a device, is told', async (t) => {
  const block = await nodeWithClaim(t, { volumeMode: 'Block' });
  await block.bind();
  block.start();
  const device = { volumeDevices: [{ name: 'v', devicePath: '/dev/data' }] };
  const { metadata } = await block.run('one', { containers: [sh('sleep 100', device)], volumes });
  await block.when('one', ({ status }) => status?.phase === 'Running');
  const link = readlinkSync(join(block.dir, 'kubelet/pods', metadata.uid ?? '', 'root/main/dev/data'));
  assert.equal(link, '../../../volumes/kubernetes.io~block-device/v');
  assert.equal(statSync(block.path).mode & 0o777, 0o700);
  const folder = await nodeWithClaim(t);
  await folder.bind();
  folder.start();
  await block.run('two', { restartPolicy: 'Never', containers: [writer], volumes });
  await folder.run('two', { containers: [sh('sleep 100', device)], volumes });
  for (const [{ client }, modes] of [
    [block, 'Block, but is specified in volumeMounts'],
    [folder, 'Filesystem, but is specified in volumeDevices'],
  ] as const) {
    const messages = async () => (await client.list(EVENTS)).items.map(({ message }) => message);
    await until(async () => (await messages()).includes(`volume v has volumeMode ${modes}`), 'the event');
  }
});

const SHARED = { annotations: { 'pv.kubernetes.io/provisioned-by': 'kubevirt-ts.io/shared-folder' } };

test('who mounts a folder of the host finds at its place whether it may write there', async (t) => {
  for (const [mode, kind] of [
    ['ReadOnlyMany', 'shared-folder-read-only'],
    ['ReadWriteMany', 'shared-folder'],
  ] as const) {
    const { bind, path, start, run, when, dir } = await nodeWithClaim(t, { accessModes: [mode] });
    mkdirSync(path, { mode: 0o755 });
    await bind(SHARED);
    start();
    const { metadata } = await run('one', {
      containers: [sh('sleep 100', { volumeMounts: [{ name: 'v', mountPath: '/data' }] })],
      volumes,
    });
    await when('one', ({ status }) => status?.phase === 'Running');
    const link = readlinkSync(join(dir, 'kubelet/pods', metadata.uid ?? '', 'root/main/data'));
    assert.equal(link, `../../volumes/kubernetes.io~${kind}/v`);
    assert.equal(statSync(path).mode & 0o777, 0o755);
  }
});

test('a link that was put in the place of a folder of the host leads nowhere', async (t) => {
  const { bind, path, start, run, client, dir } = await nodeWithClaim(t);
  mkdirSync(path);
  renameSync(path, join(dir, 'elsewhere'));
  symlinkSync(join(dir, 'elsewhere'), path);
  await bind(SHARED);
  start();
  await run('one', { restartPolicy: 'Never', containers: [writer], volumes });
  const messages = async () => (await client.list(EVENTS)).items.map(({ message }) => message);
  await until(async () => (await messages()).some((message) => message.endsWith('links lead elsewhere')), 'the event');
});

test('a folder of the host is shared with machines, not with containers', async (t) => {
  const { bind, path, client, dir } = await nodeWithClaim(t);
  mkdirSync(path);
  await bind(SHARED);
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'one', namespace: 'default' },
    spec: { containers: [{ name: 'main', image: 'busybox', volumeMounts: [{ name: 'v', mountPath: '/data' }] }], volumes },
  };
  const preparing = prepareVolumes({
    ...{ pod, client, dir: join(dir, 'pod'), owner: undefined, signal: t.signal },
    fields: { pod, podIP: '', hostIP: '' },
    images: undefined as never, // no volume is one
    bringImage: async () => false,
    isBound: () => true,
  });
  await assert.rejects(preparing, { reason: 'Invalid', message: /is a folder of the host, which is shared with virtual machines only/ });
});
