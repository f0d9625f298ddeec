import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod, PodPhase, PodSpec } from '../../api/core/pod.ts';
import type { ObjectMeta } from '../../api/meta.ts';
import { explain } from '../../reconcile/decision.ts';
import { afterEnd, beforeStart, type ContainerRecord, type Run, type Setback } from './container-record.ts';
import { decideContainers } from './decide-containers.ts';
import type { ObservedPod } from './observed.ts';

const now = Date.parse('2026-01-01T00:10:00Z');
const process = { pid: 7, startTime: '1', bootId: 'b' };
const running = (stopSentAgoMs?: number): Run => ({
  is: 'running',
  process,
  startedAtMs: now - 60_000,
  ...(stopSentAgoMs !== undefined && { stopSentAtMs: now - stopSentAgoMs }),
});
const ended = (exitCode: number, agoMs = 0): Run => ({ is: 'ended', exitCode, reason: 'x', finishedAtMs: now - agoMs });
const waiting: Run = { is: 'waiting' };

function container(run: Run, more: Partial<ContainerRecord> = {}): ContainerRecord {
  return { name: 'main', isInit: false, restartCount: 0, crashes: run.is === 'ended' ? 1 : 0, run, ...more };
}

function pod(restartPolicy: PodSpec['restartPolicy'] = 'Never', metadata: Partial<ObjectMeta> = {}, phase?: PodPhase): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'default', uid: 'u', ...metadata },
    spec: { restartPolicy, containers: [{ name: 'main' }] },
    ...(phase && { status: { phase } }),
  };
}

const deleting = (graceSeconds: number) =>
  pod('Always', { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: graceSeconds });
const init = (run: Run, name = 'init') => container(run, { name, isInit: true });
/** A Pod with a sidecar named `side`. */
const sided = (each: Pod): Pod => ({
  ...each,
  spec: {
    ...each.spec,
    initContainers: [{ name: 'side', restartPolicy: 'Always' }, { name: 'other', restartPolicy: 'Always' }, { name: 'init' }],
  },
});
const side = (run: Run, more: Partial<ContainerRecord> = {}) => container(run, { name: 'side', isInit: true, ...more });
const beside = (run: Run, more: Partial<ContainerRecord> = {}) => container(run, { name: 'shell', isEphemeral: true, ...more });
const missing: Setback = { kind: 'image', image: 'x', isMissing: true, message: 'm', failures: 1, atMs: now - 5_000 };

const cases: [string, Partial<ObservedPod>, string[]][] = [
  ['volumes come before the first start', { volumes: 'absent' }, ['prepare: a container is to start']],
  ['nothing happens while volumes come', { volumes: 'preparing' }, []],
  ['a guest that this store never knew is left alone', { pod: undefined, isForeign: true, containers: [container(running())] }, []],
  [
    'what a guest that this store never knew left behind is cleaned up',
    { pod: undefined, isForeign: true, containers: [container(ended(0))] },
    ['clean up: the Pod is gone'],
  ],
  ['a missing image is looked for before its back-off is over', { volumes: missing }, ['look again in 2s']],
  ['volumes are tried again after their back-off', { volumes: { ...missing, atMs: now - 10_000 } }, ['prepare: a container is to start']],
  [
    'an ephemeral container starts, also while init containers run',
    { containers: [init(running()), container(waiting), beside(waiting)] },
    ['start shell: it has not run yet'],
  ],
  ['but not while its image is on the way', { containers: [container(running()), beside(waiting, { isPreparing: true })] }, []],
  ['an ephemeral container is never started again', { pod: pod('Always'), containers: [container(running()), beside(ended(1))] }, []],
  ['nor does one keep a Pod that is done', { containers: [container(ended(0)), beside(running())] }, ['stop shell: the Pod has Succeeded']],
  ['a container that never ran starts', {}, ['start main: it has not run yet']],
  ['a running container is left alone', { containers: [container(running())] }, []],
  ['a running container needs no volumes', { containers: [container(running())], volumes: 'absent' }, []],
  [
    'a container that fails its liveness probe is asked to end',
    { containers: [container(running(), { doomedBy: 'liveness' })] },
    ['stop main: its liveness probe failed'],
  ],
  [
    'and killed when it does not',
    { containers: [container(running(30_000), { doomedBy: 'liveness' })] },
    ['kill main: its liveness probe failed and its grace period of 30 s is over', 'look again in 1s'],
  ],
  ['Never leaves an ended container', { containers: [container(ended(1))] }, []],
  ['OnFailure leaves success', { pod: pod('OnFailure'), containers: [container(ended(0))] }, []],
  [
    'OnFailure repeats failure, at once the first time',
    { pod: pod('OnFailure'), containers: [container(ended(1))] },
    ['start main: it ended with exit code 1'],
  ],
  ['Always repeats success', { pod: pod('Always'), containers: [container(ended(0))] }, ['start main: it ended with exit code 0']],
  ['the second crash waits 10 s', { pod: pod('Always'), containers: [container(ended(1, 4_000), { crashes: 2 })] }, ['look again in 6s']],
  ['the tenth crash waits 5 min', { pod: pod('Always'), containers: [container(ended(1), { crashes: 10 })] }, ['look again in 300s']],
  [
    'a container in back-off for its image waits',
    { containers: [container(waiting, { setback: { ...missing, isMissing: false } })] },
    ['look again in 5s'],
  ],
  ['init containers go first', { containers: [init(waiting), container(waiting)] }, ['start init: it has not run yet']],
  ['init containers go one by one', { containers: [init(running()), init(waiting, 'two'), container(waiting)] }, []],
  [
    'the next init container starts when the one before has succeeded',
    { containers: [init(ended(0)), init(waiting, 'two')] },
    ['start two: it has not run yet'],
  ],
  [
    'the others start when all init containers have succeeded',
    { containers: [init(ended(0)), container(waiting)] },
    ['start main: it has not run yet'],
  ],
  ['a failed init container ends the Pod under Never', { containers: [init(ended(1)), container(waiting)] }, []],
  [
    'a failed init container is repeated otherwise',
    { pod: pod('OnFailure'), containers: [init(ended(1)), container(waiting)] },
    ['start init: it ended with exit code 1'],
  ],
  [
    'a sidecar has its turn among the init containers',
    { pod: sided(pod()), containers: [side(waiting), init(waiting), container(waiting)] },
    ['start side: it has not run yet'],
  ],
  [
    'what follows a sidecar waits until it has started',
    { pod: sided(pod()), containers: [side(running(), { isStarted: false }), init(waiting)] },
    [],
  ],
  ['and no longer', { pod: sided(pod()), containers: [side(running()), init(waiting)] }, ['start init: it has not run yet']],
  [
    'a sidecar that ended is started again, beside the others and under any policy',
    { pod: sided(pod('Never')), containers: [side(ended(0)), init(ended(0)), container(running())] },
    ['start side: it ended with exit code 0'],
  ],
  [
    'a Pod whose containers are done ends its sidecars, the last first',
    { pod: sided(pod()), containers: [side(running()), side(running(), { name: 'other' }), init(ended(0)), container(ended(0))] },
    ['stop other: the Pod has Succeeded'],
  ],
  [
    'deletion ends the others before the sidecars',
    { pod: sided(deleting(30)), containers: [side(running()), container(running(1_000))] },
    ['look again in 29s'],
  ],
  [
    'a sidecar has two seconds when the grace period is over',
    { pod: sided(deleting(30)), containers: [side(running(500)), container(ended(0))] },
    ['look again in 1.5s'],
  ],
  [
    'nobody waits for a sidecar when there is no grace period',
    { pod: sided(deleting(0)), containers: [side(running()), container(running())] },
    ['kill side: the Pod is being deleted', 'kill main: the Pod is being deleted', 'look again in 1s'],
  ],
  ['a Pod that the API calls Failed starts nothing', { pod: pod('Always', {}, 'Failed') }, []],
  [
    'a Pod that the API calls Failed is stopped',
    { pod: pod('Always', {}, 'Failed'), containers: [container(running())] },
    ['stop main: the Pod has Failed'],
  ],
  ['deletion sends the stop signal', { pod: deleting(30), containers: [container(running())] }, ['stop main: the Pod is being deleted']],
  ['deletion waits for the grace period', { pod: deleting(30), containers: [container(running(10_000))] }, ['look again in 20s']],
  [
    'deletion kills after the grace period',
    { pod: deleting(30), containers: [container(running(30_000))] },
    ['kill main: the Pod is being deleted and its grace period of 30 s is over', 'look again in 1s'],
  ],
  [
    'a grace period of 0 kills at once',
    { pod: deleting(0), containers: [container(running())] },
    ['kill main: the Pod is being deleted', 'look again in 1s'],
  ],
  ['deletion restarts nothing', { pod: deleting(30), containers: [container(ended(1))] }, ['clean up: the Pod is being deleted']],
  ['deletion does not wait for volumes', { pod: deleting(30), volumes: 'preparing' }, ['clean up: the Pod is being deleted']],
  [
    'one that ends does not end the wait for another',
    { pod: deleting(30), containers: [container(ended(0)), container(running(1_000), { name: 'b' })] },
    ['look again in 29s'],
  ],
  [
    'a Pod that is gone is killed',
    { pod: undefined, containers: [container(running())] },
    ['kill main: the Pod is gone', 'look again in 1s'],
  ],
  ['a Pod that is gone is cleaned up', { pod: undefined, containers: [container(ended(137))] }, ['clean up: the Pod is gone']],
];

describe('decideContainers', () => {
  for (const [name, observed, expected] of cases) {
    const all: ObservedPod = { pod: pod(), containers: [container(waiting)], volumes: 'ready', hostIP: '127.0.0.1', now, ...observed };
    test(name, () => assert.deepEqual(explain(decideContainers(all)), expected));
  }
});

test('a container that keeps crashing waits longer and longer; a good run is forgiven', () => {
  const delays: number[] = [];
  let time = now;
  let state = container(waiting);
  for (const ranMs of [1_000, 1_000, 1_000, 1_000, 700_000, 1_000]) {
    state = afterEnd(beforeStart(state), { exitCode: 1, reason: 'Error', startedAtMs: time, finishedAtMs: time + ranMs });
    time += ranMs;
    const observed: ObservedPod = { pod: pod('Always'), containers: [state], volumes: 'ready', hostIP: '127.0.0.1', now: time };
    const delay = decideContainers(observed).lookAgainAfterMs ?? 0;
    delays.push(delay / 1000);
    time += delay;
  }
  assert.deepEqual(delays, [0, 10, 20, 40, 0, 10]);
  assert.equal(state.restartCount, 5);
});
