import assert from 'node:assert/strict';
import { chmod, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Pod } from '../../api/core/pod.ts';
import { sh, testNode } from './node.testing.ts';
import { whoWeMayBecome } from './privileges.ts';

const isOver = ({ status }: Pod) => status?.phase === 'Succeeded' || status?.phase === 'Failed';
const waitingOf = ({ status }: Pod) => status?.containerStatuses?.[0]?.state?.waiting;
const asQemu = { runAsUser: 107, runAsGroup: 107, runAsNonRoot: true, fsGroup: 107 };
const skip = whoWeMayBecome()(107) ? false : 'needs root, to become somebody else';

test('a program of ours gets no variable that changes how programs are loaded, whoever it runs as', async (t) => {
  const node = await testNode(t);
  const image = { path: join(node.dir, 'programs'), programs: ['sh'], dropsPrivileges: true };
  node.start({ mayBecome: () => false, builtInImages: { 'test/shell': image } });
  await node.run('p', { containers: [sh('exit 0', { env: [{ name: 'NODE_OPTIONS', value: '--import=x' }] })] });
  const pod = await node.when('p', (each) => waitingOf(each)?.message !== undefined);
  assert.match(waitingOf(pod)?.message ?? '', /a Pod may not set NODE_OPTIONS/);
});

test('no container is root, whoever asks for it', async (t) => {
  const node = await testNode(t);
  node.start();
  await node.run('p', { containers: [sh('exit 0', { securityContext: { runAsUser: 0 } })] });
  const pod = await node.when('p', (each) => waitingOf(each)?.message !== undefined);
  assert.match(waitingOf(pod)?.message ?? '', /asks for runAsUser 0/);
});

test('an image that is not for every Pod is asked before it is started', async (t) => {
  const node = await testNode(t);
  const image = { path: join(node.dir, 'programs'), programs: ['sh'], whyNotFor: async () => 'not for this Pod' };
  node.start({ builtInImages: { 'test/shell': image } });
  await node.run('p', { containers: [sh('exit 0')] });
  const pod = await node.when('p', (each) => waitingOf(each)?.message !== undefined);
  assert.match(waitingOf(pod)?.message ?? '', /not for this Pod/);
});

test('nothing is made outside of the folder of a Pod', async (t) => {
  const node = await testNode(t);
  node.start();
  for (const type of ['FileOrCreate', 'DirectoryOrCreate']) {
    const name = type.toLowerCase();
    const path = join(node.dir, `made-${name}`);
    await node.run(name, { containers: [sh('exit 0')], volumes: [{ name: 'v', hostPath: { path, type } }] });
    const pod = await node.when(name, (each) => waitingOf(each)?.message !== undefined);
    assert.match(waitingOf(pod)?.message ?? '', /hostPath type check failed/);
    await assert.rejects(stat(path), /ENOENT/);
  }
});

describe('as root', { skip }, () => {
  test('a container runs as its user and can write to its volumes', async (t) => {
    const node = await testNode(t);
    await chmod(node.dir, 0o711);
    const kubelet = node.start({ mayBecome: whoWeMayBecome() });
    const script = 'id -u; id -g; id -G; echo x > "$CONTAINER_SANDBOX_MOUNT_POINT"/v/file';
    const created = await node.run('p', {
      securityContext: asQemu,
      containers: [sh(script, { volumeMounts: [{ name: 'v', mountPath: '/v' }] })],
      volumes: [{ name: 'v', emptyDir: {} }],
    });
    const pod = await node.when('p', isOver);
    assert.equal(await (await kubelet.logs(pod)).text(), '107\n107\n107\n');
    const volume = await stat(join(node.rootDir, 'pods', created.metadata.uid!, 'volumes/kubernetes.io~empty-dir/v'));
    assert.deepEqual([volume.uid, volume.gid, volume.mode & 0o7777], [107, 107, 0o2770]);
  });

  test('a program that drops privileges itself is told to whom, and a Pod cannot tell it otherwise', async (t) => {
    const node = await testNode(t);
    const image = { path: join(node.dir, 'programs'), programs: ['sh'], dropsPrivileges: true };
    const kubelet = node.start({ mayBecome: whoWeMayBecome(), builtInImages: { 'test/shell': image } });
    const script = 'id -u; echo $CONTAINER_RUN_AS_USER $CONTAINER_RUN_AS_GROUP $KUBEVIRT_X';
    await node.run('p', { securityContext: asQemu, containers: [sh(script, { env: [{ name: 'KUBEVIRT_X', value: 'x' }] })] });
    assert.equal(await (await kubelet.logs(await node.when('p', isOver))).text(), '0\n107 107 x\n');

    for (const name of ['LD_PRELOAD', 'NODE_OPTIONS', 'PATH', 'CONTAINER_RUN_AS_USER']) {
      const podName = name.toLowerCase().replaceAll('_', '-');
      await node.run(podName, { securityContext: asQemu, containers: [sh(script, { env: [{ name, value: '0' }] })] });
      const pod = await node.when(podName, (each) => waitingOf(each)?.reason === 'CreateContainerConfigError');
      assert.match(waitingOf(pod)?.message ?? '', new RegExp(`a Pod may not set ${name}`));
    }
  });

  test('runAsNonRoot without a user is refused', async (t) => {
    const node = await testNode(t);
    node.start();
    await node.run('p', { securityContext: { runAsNonRoot: true }, containers: [sh('exit 0')] });
    const pod = await node.when('p', (each) => waitingOf(each)?.message !== undefined);
    assert.match(waitingOf(pod)?.message ?? '', /runAsNonRoot and would run as root/);
  });
});
