/** kubectl debug: containers that are put beside those of a Pod that runs. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { EVENTS } from '../../src/api/core/event.ts';
import { PODS } from '../../src/api/core/pod.ts';
import { BUSYBOX_IMAGE, skipContainers } from '../../src/control-plane/kubelet/containers/busybox.testing.ts';
import { sh } from '../../src/control-plane/kubelet/node.testing.ts';
import { until } from '../../src/testing/until.ts';
import { streamNode } from './stream-node.ts';

const skip = skipContainers();
const IMAGE = `--image=${BUSYBOX_IMAGE}`;
const LOOP = 'while :; do sleep 1; done';

test('kubectl debug, into Pods of ordinary images', { skip, timeout: 120_000 }, async (t) => {
  const { node, kubectl, start, pod, restart } = await streamNode(t);
  await pod('web', `httpd -p 8080; ${LOOP}`);
  const ofDebugger = (name: string, wanted: (state: NonNullable<ReturnType<typeof stateOf>>) => unknown) =>
    node.when('web', ({ status }) => {
      const state = stateOf(status, name);
      return state !== undefined && wanted(state) !== undefined;
    });

  await t.test('a shell beside the container, in its network and not among its processes', async () => {
    const child = start(['debug', '-it', 'web', IMAGE, '-c', 'shell', '--', 'sh'], { size: '24 80' });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        said += chunk;
      });
    await until(() => said.includes('# '), 'a prompt');
    child.stdin.write('netstat -tln | grep -c 8080; ps | grep -c "[h]ttpd"; exit 3\n');
    await once(child, 'close');
    assert.match(said, /^1\r\n0\r$/m);
    const done = await ofDebugger('shell', ({ terminated }) => terminated);
    assert.equal(stateOf(done.status, 'shell')?.terminated?.exitCode, 3);
    assert.equal(done.status?.phase, 'Running', 'the Pod goes on');
    assert.equal(done.status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'True');
  });

  await t.test('--target: among the processes of the container', async () => {
    const words = [
      'debug',
      'web',
      IMAGE,
      '-c',
      'among',
      '--target=main',
      '--profile=general',
      '--',
      'sh',
      '-c',
      'ps | grep -q "[h]ttpd" && exit 7',
    ];
    const { code, stderr } = await kubectl(words);
    assert.equal(code, 0, stderr);
    const done = await ofDebugger('among', ({ terminated }) => terminated);
    assert.equal(stateOf(done.status, 'among')?.terminated?.exitCode, 7);
  });

  await t.test('an image that is not there holds up nobody else', async () => {
    const { code, stderr } = await kubectl(['debug', 'web', '--image=localhost/tests/absent', '-c', 'absent']);
    assert.equal(code, 0, stderr);
    const found = await ofDebugger('absent', ({ waiting }) => waiting?.reason.match(/ImagePull/)?.[0]);
    assert.equal(found.status?.phase, 'Running');
  });

  await t.test('one that runs is found again by the next kubelet, and ends with its Pod', async () => {
    assert.equal((await kubectl(['debug', 'web', IMAGE, '-c', 'stays', '--', 'sh', '-c', LOOP])).code, 0);
    const before = await ofDebugger('stays', ({ running }) => running);
    await restart();
    const { code, stdout } = await kubectl(['exec', 'web', '-c', 'stays', '--', 'echo', 'here']);
    assert.deepEqual([code, stdout.toString('utf8')], [0, 'here\n']);
    const after = await node.client.get(PODS, { namespace: 'default', name: 'web' });
    assert.deepEqual(stateOf(after?.status, 'stays'), stateOf(before.status, 'stays'));
    await kubectl(['delete', 'pod', 'web', '--grace-period=1']);
    await node.gone('web');
  });

  await t.test('--copy-to: a Pod like the other, with one container more that sees its processes', async () => {
    await pod('old', `httpd -p 8080; ${LOOP}`);
    const words = ['debug', 'old', IMAGE, '-c', 'more', '--copy-to=new', '--same-node', '--share-processes', '--', 'sh', '-c', LOOP];
    const { code, stderr } = await kubectl(words);
    assert.equal(code, 0, stderr);
    const copy = await node.when('new', ({ status }) => status?.phase === 'Running');
    assert.deepEqual(
      copy.spec.containers.map(({ name }) => name),
      ['main', 'more'],
    );
    assert.equal(copy.spec.shareProcessNamespace, true);
    await until(async () => {
      const { stdout } = await kubectl(['exec', 'new', '-c', 'more', '--', 'ps']);
      return /httpd -p 8080\n/.test(stdout.toString('utf8'));
    }, 'the processes of the other container');
  });

  await t.test('kubectl debug node/...: not run, and the event has the reason', async () => {
    const { code, stderr } = await kubectl(['debug', 'node/n1', IMAGE]);
    assert.equal(code, 0, stderr);
    await until(async () => {
      const { items } = await node.client.list(EVENTS, { namespace: 'default' });
      return items.some(({ reason, message }) => reason === 'FailedCreatePodSandBox' && /host.* is not offered/.test(message ?? ''));
    }, 'the reason');
  });

  await t.test('not into programs of the embedded cluster', async () => {
    await node.run('ours', { containers: [sh('sleep 100')] });
    await node.when('ours', ({ status }) => status?.phase === 'Running');
    await kubectl(['debug', 'ours', IMAGE, '-c', 'beside']);
    const found = await node.when('ours', ({ status }) => stateOf(status, 'beside')?.waiting?.reason === 'CreateContainerConfigError');
    assert.match(stateOf(found.status, 'beside')?.waiting?.message ?? '', /not in programs of the embedded cluster/);
  });
});

function stateOf(status: Awaited<ReturnType<Awaited<ReturnType<typeof streamNode>>['pod']>>['status'], wanted: string) {
  return status?.ephemeralContainerStatuses?.find(({ name }) => name === wanted)?.state;
}
