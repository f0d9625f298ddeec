/** One Pod attacks another with everything that its user may do on the host. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PODS, type Pod } from '../../api/core/pod.ts';
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from '../../api/core/volume.ts';
import { readPodRecord } from '../../base/node/pod-record.ts';
import { podUserRange } from '../../base/node/pod-user-range.ts';
import { until } from '../../testing/until.ts';
import { sh, type TestNode, testNode } from './node.testing.ts';
import { openPodUsers } from './pod-users.ts';
import { whoWeMayBecome } from './privileges.ts';

const range = podUserRange();
const skip = range ? false : 'needs root, to become somebody else';
const QEMU = { runAsUser: 107, runAsGroup: 107, fsGroup: 107 };
const isRunning = ({ status }: Pod) => status?.containerStatuses?.[0]?.state?.running !== undefined;
const isOver = ({ status }: Pod) => status?.phase === 'Succeeded' || status?.phase === 'Failed';
const dirOf = (node: TestNode, pod: Pod) => join(node.rootDir, 'pods', pod.metadata.uid ?? '');
const userOf = (node: TestNode, pod: Pod) => readPodRecord(dirOf(node, pod))?.user;

async function isolatedNode(t: TestContext): Promise<TestNode> {
  const node = await testNode(t);
  chmodSync(node.dir, 0o711);
  mkdirSync(join(node.dir, 'volumes'));
  chmodSync(join(node.dir, 'volumes'), 0o711);
  start(node);
  return node;
}

function start(node: TestNode): ReturnType<TestNode['start']> {
  const users = openPodUsers(join(node.dir, 'pod-users.json'), range ?? { first: 0, count: 0 });
  const machineOf = async ({ metadata }: Pod) => metadata.labels?.['machine'];
  return node.start({ mayBecome: whoWeMayBecome(), users, machineOf });
}

/** A claim that is bound to a folder which we made. */
async function claim(node: TestNode, name: string): Promise<string> {
  const path = join(node.dir, 'volumes', name);
  const spec = { accessModes: ['ReadWriteMany'], volumeName: name, resources: { requests: { storage: '1Gi' } } };
  const ref = { namespace: 'default', name };
  const { metadata } = await node.client.create(PERSISTENT_VOLUME_CLAIMS, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: ref,
    spec,
  });
  await node.client.create(PERSISTENT_VOLUMES, {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, annotations: { 'pv.kubernetes.io/provisioned-by': 'kubevirt-ts.io/local' } },
    spec: {
      accessModes: ['ReadWriteMany'],
      capacity: { storage: '1Gi' },
      claimRef: { ...ref, uid: metadata.uid },
      hostPath: { path, type: 'DirectoryOrCreate' },
    },
  });
  await node.client.patch(PERSISTENT_VOLUME_CLAIMS, ref, { status: { phase: 'Bound' } }, { subresource: 'status' });
  return path;
}

const mounts = [
  { name: 'v', mountPath: '/v' },
  { name: 'c', mountPath: '/c' },
];
const volumes = (claimName: string) => [
  { name: 'v', emptyDir: {} },
  { name: 'c', persistentVolumeClaim: { claimName } },
];
const writeAll = 'umask 077; cd "$CONTAINER_SANDBOX_MOUNT_POINT"; echo secret | tee v/file c/disk.img; ';

test('a process with the user of one Pod gets at nothing of another', { skip }, async (t) => {
  const node = await isolatedNode(t);
  await claim(node, 'a');
  const folder = await claim(node, 'b');
  const run = (name: string) =>
    node.run(name, {
      securityContext: QEMU,
      containers: [sh(`${writeAll} echo ready; exec sleep 60`, { volumeMounts: mounts })],
      volumes: volumes(name),
    });
  const [a, b] = [await run('a'), await run('b')];
  for (const name of ['a', 'b']) await node.when(name, isRunning);
  const [attacker, victim] = [userOf(node, a), userOf(node, b)];
  assert.ok(attacker && victim && attacker.uid !== victim.uid && attacker.uid !== 107);

  const dir = dirOf(node, b);
  const targets = [
    dir,
    ...['pod.json', 'containers/main/0.log', 'containers/main', 'root/main', 'root/main/v'].map((name) => join(dir, name)),
    join(dir, 'volumes/kubernetes.io~empty-dir/v'),
    join(dir, 'volumes/kubernetes.io~empty-dir/v/file'),
    folder,
    join(folder, 'disk.img'),
  ];
  await until(() => targets.every((path) => existsSync(path)), 'everything that there is to attack');
  const groups = [attacker.gid, ...attacker.groups].join(',');
  const as = (script: string, ...args: string[]) =>
    spawnSync('/usr/bin/setpriv', [
      '--reuid',
      `${attacker.uid}`,
      '--regid',
      `${attacker.gid}`,
      '--groups',
      groups,
      'sh',
      '-c',
      script,
      ...args,
    ]);
  const reached = targets.filter((path) => as('[ -r "$0" ] || [ -w "$0" ] || cat "$0" || ls "$0"', path).status === 0);
  assert.deepEqual(reached, []);
  const own = join(dirOf(node, a), 'volumes/kubernetes.io~empty-dir/v/file');
  assert.equal(`${as('cat "$0"', own).stdout}`, 'secret\n'); // the test could see if it were otherwise
});

test('a machine keeps its user and its claim, in its next Pod and under the next kubelet', { skip }, async (t) => {
  const node = await isolatedNode(t);
  await claim(node, 'a');
  const spec = (script: string) => ({ securityContext: QEMU, containers: [sh(script, { volumeMounts: mounts })], volumes: volumes('a') });
  const machine = { labels: { machine: 'm' } };
  const first = await node.run('one', spec(writeAll), machine);
  await node.when('one', isOver);
  const before = userOf(node, first);
  await node.client.delete(PODS, first.metadata);
  await node.gone('one');
  await node.stop();

  const kubelet = start(node);
  const second = await node.run('two', spec('id -u; cat "$CONTAINER_SANDBOX_MOUNT_POINT"/c/disk.img'), machine);
  const over = await node.when('two', isOver);
  assert.equal(await (await kubelet.logs(over)).text(), `${before?.uid}\nsecret\n`);
  assert.deepEqual(userOf(node, second), before);
});

test('a claim that several mount is for each of them, whoever made its files', { skip }, async (t) => {
  const node = await isolatedNode(t);
  await claim(node, 'a');
  const kubelet = await node.stop().then(() => start(node));
  for (const [name, script] of [
    ['one', `${writeAll} mkdir c/folder; echo deep > c/folder/file`],
    ['two', 'cd "$CONTAINER_SANDBOX_MOUNT_POINT"/c; cat disk.img; echo more >> disk.img && echo written'],
  ] as const) {
    await node.run(name, { containers: [sh(script, { volumeMounts: mounts })], volumes: volumes('a') });
    await node.when(name, isOver);
  }
  const two = await node.when('two', isOver);
  assert.equal(await (await kubelet.logs(two)).text(), 'secret\nwritten\n');
});

test('a claim of before there were users goes on: its files are for whoever mounts it', { skip }, async (t) => {
  const node = await isolatedNode(t);
  const folder = await claim(node, 'a');
  mkdirSync(join(folder, 'sub'), { recursive: true });
  for (const path of ['disk.img', 'sub/file']) writeFileSync(join(folder, path), 'old\n', { mode: 0o600 });
  for (const path of ['.', 'sub', 'disk.img', 'sub/file']) chownSync(join(folder, path), 107, 107);
  chmodSync(folder, 0o2770);
  const kubelet = await node.stop().then(() => start(node));
  const script = 'cd "$CONTAINER_SANDBOX_MOUNT_POINT"/c; cat disk.img sub/file; echo x >> disk.img && echo written';
  await node.run('one', { securityContext: QEMU, containers: [sh(script, { volumeMounts: mounts })], volumes: volumes('a') });
  assert.equal(await (await kubelet.logs(await node.when('one', isOver))).text(), 'old\nold\nwritten\n');
});

test('a link in a claim changes nothing outside of it', { skip }, async (t) => {
  const node = await isolatedNode(t);
  const folder = await claim(node, 'a');
  mkdirSync(folder, { recursive: true });
  const outside = join(node.dir, 'outside');
  mkdirSync(outside, { mode: 0o700 });
  writeFileSync(join(outside, 'file'), 'ours', { mode: 0o600 });
  symlinkSync(outside, join(folder, 'folder'));
  symlinkSync(join(outside, 'file'), join(folder, 'disk.img'));
  await node.run('one', { containers: [sh('exit 0', { volumeMounts: mounts })], volumes: volumes('a') });
  await node.when('one', isOver);
  assert.deepEqual(
    [outside, join(outside, 'file')].map((path) => [statSync(path).gid, statSync(path).mode & 0o777]),
    [
      [0, 0o700],
      [0, 0o600],
    ],
  );
});

test('a Pod that ran before there were users stays what it was', { skip }, async (t) => {
  const node = await testNode(t);
  chmodSync(node.dir, 0o711);
  node.start({ mayBecome: whoWeMayBecome() });
  const script = 'id -u; cd "$CONTAINER_SANDBOX_MOUNT_POINT"/v; [ -e file ] && exit 0; echo x > file; sleep 1; exit 1';
  const pod = await node.run('p', {
    restartPolicy: 'OnFailure',
    securityContext: QEMU,
    containers: [sh(script, { volumeMounts: [{ name: 'v', mountPath: '/v' }] })],
    volumes: [{ name: 'v', emptyDir: {} }],
  });
  await node.when('p', isRunning);
  await node.stop();
  const kubelet = start(node);
  const over = await node.when('p', isOver);
  assert.equal(await (await kubelet.logs(over)).text(), '107\n');
  assert.equal(userOf(node, pod), undefined);
  assert.deepEqual(readdirSync(join(dirOf(node, pod), 'volumes/kubernetes.io~empty-dir/v')), ['file']);
});
