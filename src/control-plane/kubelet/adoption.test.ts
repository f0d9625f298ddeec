import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PODS, type Pod } from '../../api/core/pod.ts';
import { identify, isSameProcess, type ProcessIdentity } from '../../base/node/process-identity.ts';
import { until } from '../../testing/until.ts';
import { processesOf, sh, type TestNode, testNode } from './node.testing.ts';

const stateOf = ({ status }: Pod) => status?.containerStatuses?.[0]?.state;
const isRunning = (pod: Pod) => stateOf(pod)?.running !== undefined;
const isOver = ({ status }: Pod) => status?.phase === 'Succeeded' || status?.phase === 'Failed';
const UNKNOWN = [137, 'ContainerStatusUnknown'];

const endOf = (pod: Pod) => [stateOf(pod)?.terminated?.exitCode, stateOf(pod)?.terminated?.reason];
const statePath = (node: TestNode, pod: Pod) => join(node.rootDir, 'pods', pod.metadata.uid!, 'containers/main/state.json');
const readState = async (node: TestNode, pod: Pod) => JSON.parse(await readFile(statePath(node, pod), 'utf8')) as Record<string, unknown>;

/** A Pod that runs on a node whose kubelet is down. */
async function leftBehind(
  t: TestContext,
  options: { clusterId?: string } = {},
): Promise<{ node: TestNode; pod: Pod; main: ProcessIdentity }> {
  const node = await testNode(t);
  node.start(options);
  await node.run('p', { containers: [sh('exec sleep 60')] });
  const pod = await node.when('p', isRunning);
  await node.stop();
  return { node, pod, main: identify(Number((await readState(node, pod))['pid']))! };
}

/** By the time a Pod that came later has ended, the kubelet has looked at the ones before. */
async function settle(node: TestNode): Promise<void> {
  await node.run('later', { containers: [sh('exit 0')] });
  await node.when('later', isOver);
}

describe('after a restart of the kubelet', () => {
  test('a running container is adopted: same process, no restart, not one write', async (t) => {
    const { node, pod, main } = await leftBehind(t);
    node.start();
    await settle(node);
    const after = await node.client.get(PODS, pod.metadata);
    assert.equal(after?.metadata.resourceVersion, pod.metadata.resourceVersion);
    assert.deepEqual(processesOf(node.dir), [main]);
  });

  test('the end of an adopted container is noticed', async (t) => {
    const { node, main } = await leftBehind(t);
    node.start();
    await settle(node);
    process.kill(main.pid, 'SIGKILL');
    assert.deepEqual(endOf(await node.when('p', isOver)), UNKNOWN);
  });

  test('a Pod that the store has deleted meanwhile is ended', async (t) => {
    const { node, pod } = await leftBehind(t, { clusterId: 'a' });
    await node.client.delete(PODS, pod.metadata, { gracePeriodSeconds: 0 });
    node.start({ clusterId: 'a' });
    await until(async () => processesOf(node.dir).length === 0, 'the end of its process');
  });

  test('a Pod that another store has never known is left alone, until it ends by itself', async (t) => {
    const { node, pod, main } = await leftBehind(t, { clusterId: 'a' });
    await node.client.delete(PODS, pod.metadata, { gracePeriodSeconds: 0 });
    node.start({ clusterId: 'b' });
    await settle(node);
    assert.deepEqual(processesOf(node.dir), [main]);
    process.kill(main.pid, 'SIGKILL');
    await until(async () => !(await readdir(join(node.rootDir, 'pods'))).includes(pod.metadata.uid ?? ''), 'its folder to go');
  });

  test('a Pod that a restored store knows belongs to it from then on', async (t) => {
    const { node, pod } = await leftBehind(t, { clusterId: 'a' });
    node.start({ clusterId: 'b' });
    await settle(node);
    await node.stop();
    await node.client.delete(PODS, pod.metadata, { gracePeriodSeconds: 0 });
    node.start({ clusterId: 'b' });
    await until(async () => processesOf(node.dir).length === 0, 'the end of its process');
  });

  test('a container that ended meanwhile has an unknown exit code', async (t) => {
    const { node, main } = await leftBehind(t);
    process.kill(main.pid, 'SIGTERM');
    await until(() => !isSameProcess(main));
    node.start();
    const pod = await node.when('p', isOver);
    assert.deepEqual([pod.status?.phase, ...endOf(pod)], ['Failed', ...UNKNOWN]);
  });

  test('an adopted container ends with its Pod', async (t) => {
    const { node, pod, main } = await leftBehind(t);
    node.start();
    await node.client.delete(PODS, pod.metadata);
    await node.gone('p');
    assert.equal(isSameProcess(main), false);
  });

  test('a Pod that was deleted meanwhile is stopped and removed', async (t) => {
    const { node, pod, main } = await leftBehind(t);
    await node.client.delete(PODS, pod.metadata);
    node.start();
    await node.gone('p');
    assert.equal(isSameProcess(main), false);
  });

  test('a Pod that was deleted by force meanwhile leaves nothing behind', async (t) => {
    const { node, pod, main } = await leftBehind(t);
    await node.client.delete(PODS, pod.metadata, { gracePeriodSeconds: 0 });
    node.start();
    await until(async () => (await readdir(join(node.rootDir, 'pods'))).length === 0, 'the folder to go');
    assert.equal(isSameProcess(main), false);
  });

  test('a finished Pod is not touched', async (t) => {
    const node = await testNode(t);
    node.start();
    await node.run('p', { containers: [sh('exit 0')] });
    const pod = await node.when('p', isOver);
    await node.stop();
    await rm(join(node.rootDir, 'pods'), { recursive: true });
    node.start();
    await settle(node);
    assert.equal((await node.client.get(PODS, pod.metadata))?.metadata.resourceVersion, pod.metadata.resourceVersion);
  });
});

describe("never two processes for one container, never somebody else's process", () => {
  for (const [what, change] of [
    ['an earlier boot', { bootId: 'an earlier one' }],
    ['a pid that was reused', { startTime: '1' }],
  ] as const) {
    test(`${what}: not adopted, not killed`, async (t) => {
      const { node, pod, main } = await leftBehind(t);
      process.kill(main.pid, 'SIGKILL');
      await until(() => !isSameProcess(main));
      const stranger = spawn('sleep', ['60'], { stdio: 'ignore' });
      t.after(() => stranger.kill('SIGKILL'));
      const identity = identify(stranger.pid!)!;
      await writeFile(statePath(node, pod), JSON.stringify({ ...(await readState(node, pod)), ...identity, ...change }));
      node.start();
      assert.deepEqual(endOf(await node.when('p', isOver)), UNKNOWN);
      assert.equal(isSameProcess(identity), true);
    });
  }

  for (const [what, content] of [
    ['died before the pid was written down', '{"isStarting":true,"restartCount":0,"crashes":0}'],
    ['left a state file that cannot be read', '{"pid":'],
  ] as const) {
    test(`a kubelet that ${what}: the process is found`, async (t) => {
      const { node, pod, main } = await leftBehind(t);
      await writeFile(statePath(node, pod), content);
      node.start();
      await until(async () => ((await readState(node, pod).catch(() => ({}))) as { pid?: number }).pid === main.pid, 'adoption');
      await settle(node);
      assert.deepEqual(processesOf(node.dir), [main]);
    });
  }

  test('a kubelet that died before it made the process: it is made now', async (t) => {
    const node = await testNode(t);
    const pod = await node.run('p', { containers: [sh('exit 0')] });
    await mkdir(join(statePath(node, pod), '..'), { recursive: true });
    await writeFile(statePath(node, pod), '{"isStarting":true,"restartCount":0,"crashes":0}');
    node.start();
    assert.deepEqual(endOf(await node.when('p', isOver)), [0, 'Completed']);
  });

  test('a folder that was lost while the API says it runs: no second start', async (t) => {
    const { node } = await leftBehind(t);
    await rm(join(node.rootDir, 'pods'), { recursive: true });
    node.start();
    assert.deepEqual(endOf(await node.when('p', isOver)), UNKNOWN);
  });
});

/** The API of a test node over HTTP, for a kubelet in another process. */
async function serve(t: TestContext, node: TestNode): Promise<string> {
  const server = createServer((message, reply) => {
    const body = message.method === 'GET' ? undefined : Readable.toWeb(message);
    const closed = new AbortController();
    reply.on('close', () => closed.abort());
    const init = { method: message.method, headers: message.headers as HeadersInit, body, duplex: 'half', signal: closed.signal };
    void node.server.fetch(message.url ?? '/', init as RequestInit).then((answer) => {
      reply.writeHead(answer.status, [...answer.headers.entries()].flat());
      if (answer.body)
        Readable.fromWeb(answer.body as never)
          .on('error', () => reply.destroy())
          .pipe(reply);
      else reply.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('kill -9 of the kubelet while Pods run and start: every Pod ends up with exactly one process, none is restarted', async (t) => {
  const node = await testNode(t);
  const url = await serve(t, node);
  const startProcess = (): ChildProcess => {
    const script = fileURLToPath(new URL('killable-kubelet.testing.ts', import.meta.url));
    const child = spawn(process.execPath, [script, url, node.rootDir, join(node.dir, 'programs')], { stdio: 'ignore' });
    t.after(() => child.kill('SIGKILL'));
    return child;
  };
  const names: string[] = [];
  const seen = new Map<number, ProcessIdentity>();
  for (let round = 0; round < 3; round++) {
    const kubelet = startProcess();
    const batch = [0, 1, 2].map((i) => `p${round}-${i}`);
    for (const name of batch) names.push((await node.run(name, { containers: [sh('exec sleep 60')] })).metadata.name);
    await node.when(`p${round}-0`, isRunning); // its neighbours are in the middle of being started
    kubelet.kill('SIGKILL');
    await once(kubelet, 'exit');
    for (const identity of processesOf(node.dir)) seen.set(identity.pid, identity);
  }
  const last = startProcess();
  const pods = await Promise.all(names.map((name) => node.when(name, isRunning)));
  await settle(node);
  assert.ok([...seen.values()].every(isSameProcess), 'what ran at any kill goes on');
  assert.deepEqual(
    pods.map(({ status }) => status?.containerStatuses?.[0]?.restartCount),
    names.map(() => 0),
  );
  assert.equal(processesOf(node.dir).length, names.length);
  last.kill('SIGKILL');
  await once(last, 'exit');
});
