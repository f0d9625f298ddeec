/** Probes with a real kubelet, real processes and a real web server. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { Pod } from '../../api/core/pod.ts';
import { conditionOf } from '../../api/meta.ts';
import { systemClock } from '../../base/clock.ts';
import { until } from '../../testing/until.ts';
import type { ContainerRecord } from './container-record.ts';
import { sh, testNode } from './node.testing.ts';
import { Probes } from './probes.ts';

/** A web page that says yes or no, as told. */
async function page(t: TestContext) {
  const said = { status: 500, paths: new Set<string>() };
  const server = createServer((request, response) => {
    said.paths.add(request.url ?? '');
    response.writeHead(said.status).end();
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { said, server, probe: { httpGet: { path: '/healthz', host: '127.0.0.1', port }, periodSeconds: 1, failureThreshold: 1 } };
}

const isReady = (pod: Pod) => conditionOf(pod.status?.conditions, 'Ready')?.status === 'True';
const readySince = (pod: Pod) => conditionOf(pod.status?.conditions, 'Ready')?.lastTransitionTime ?? '';
const isUp = (pod: Pod) => pod.status?.containerStatuses?.[0]?.state?.running !== undefined;

test('a container is ready when its probe says so, and not any more when it does not', async (t) => {
  const node = await testNode(t);
  const { said, probe } = await page(t);
  node.start();
  await node.run('a', { containers: [sh('exec sleep 60', { readinessProbe: probe })] });
  const up = await node.when('a', isUp);
  assert.deepEqual([isReady(up), up.status?.containerStatuses?.[0]?.ready], [false, false]);
  said.status = 302;
  await node.when('a', isReady);
  assert.deepEqual([...said.paths], ['/healthz']);
  said.status = 503;
  const down = await node.when('a', (pod) => !isReady(pod));
  assert.equal(conditionOf(down.status?.conditions, 'Ready')?.reason, 'ContainersNotReady');
  assert.equal(down.status?.containerStatuses?.[0]?.state?.running !== undefined, true, 'it runs on');
});

test('a probe whose answer may take longer than any timer is asked all the same', async (t) => {
  const node = await testNode(t);
  const { said, probe } = await page(t);
  said.status = 200;
  node.start();
  await node.run('a', { containers: [sh('exec sleep 60', { readinessProbe: { ...probe, timeoutSeconds: 2 ** 31 - 1 } })] });
  await node.when('a', isReady);
});

test('a kubelet that comes back believes the one before it', async (t) => {
  const node = await testNode(t);
  const { said, probe } = await page(t);
  said.status = 200;
  node.start();
  await node.run('a', { containers: [sh('exec sleep 60', { readinessProbe: { ...probe, periodSeconds: 600 } })] });
  await node.when('a', isReady);
  const since = readySince(await node.when('a', isReady));
  await until(() => Date.now() >= Date.parse(since) + 1_000, 'a change to have another time stamp');
  await node.stop();
  said.paths.clear();
  node.start();
  await until(() => said.paths.size > 0, 'the second kubelet to ask');
  assert.equal(readySince(await node.when('a', isReady)), since);
});

test('a liveness probe that fails ends the container, within the grace period of the probe', async (t) => {
  const node = await testNode(t);
  const { said, probe } = await page(t);
  said.status = 200;
  node.start();
  const stubborn = sh('trap "" TERM; while :; do sleep 1; done', { livenessProbe: { ...probe, terminationGracePeriodSeconds: 1 } });
  await node.run('a', { terminationGracePeriodSeconds: 600, containers: [stubborn] });
  await node.when('a', isReady);
  said.status = 500;
  const ended = await node.when('a', (pod) => pod.status?.phase === 'Failed');
  assert.equal(ended.status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 137);
});

test('a port that takes connections is a yes, one that does not is a no', async (t) => {
  const node = await testNode(t);
  const { server } = await page(t);
  const { port } = server.address() as AddressInfo;
  node.start();
  const readinessProbe = { tcpSocket: { host: '127.0.0.1', port }, periodSeconds: 1, failureThreshold: 1 };
  await node.run('a', { containers: [sh('exec sleep 60', { readinessProbe })] });
  await node.when('a', isReady);
  server.close();
  await node.when('a', (pod) => !isReady(pod));
});

test('nothing else is asked before a startup probe has succeeded', async (t) => {
  const node = await testNode(t);
  const started = await page(t);
  const ready = await page(t);
  ready.said.status = 200;
  node.start();
  const startupProbe = { ...started.probe, failureThreshold: 100 };
  await node.run('a', { containers: [sh('exec sleep 60', { startupProbe, readinessProbe: ready.probe })] });
  await until(() => started.said.paths.size > 0, 'the startup probe to be asked');
  const up = await node.when('a', isUp);
  assert.deepEqual([up.status?.containerStatuses?.[0]?.started, ready.said.paths.size], [false, 0]);
  started.said.status = 200;
  await node.when('a', isReady);
});

test('a program is asked for only where one can be started', async () => {
  const asked: string[] = [];
  let isUp = false;
  const failed: string[] = [];
  const probes = new Probes({
    clock: systemClock,
    signal: new AbortController().signal,
    canExec: () => true,
    runs: () => isUp,
    exec: async (_, command) => void asked.push(command.join(' ')),
    onVerdict: () => {},
    onFailure: (_, __, why) => failed.push(why),
  });
  const container = { name: 'main', livenessProbe: { exec: { command: ['true'] }, failureThreshold: 1 } };
  const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: { containers: [container] } };
  const run = { is: 'running', process: { pid: 7, startTime: '1', bootId: 'b' }, startedAtMs: 0 } as const;
  const record: ContainerRecord = { name: 'main', isInit: false, restartCount: 0, crashes: 0, run };
  probes.lookAround(pod, [record], '127.0.0.1');
  assert.deepEqual([asked, failed, probes.of(pod, record).doomedBy], [[], [], undefined]);
  isUp = true;
  probes.lookAround(pod, [record], '127.0.0.1');
  assert.deepEqual([asked, failed], [['true'], []]);
});
