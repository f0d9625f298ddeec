import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../api/core/pod.ts';
import type { ObjectMeta } from '../../api/meta.ts';
import { mergePatch } from '../../base/json.ts';
import { explain } from '../../reconcile/decision.ts';
import type { ContainerRecord, Run } from './container-record.ts';
import { decidePod } from './decide.ts';
import type { ObservedPod } from './observed.ts';

const now = Date.parse('2026-01-01T00:10:00Z');
const running: Run = { is: 'running', process: { pid: 7, startTime: '1', bootId: 'b' }, startedAtMs: now - 60_000 };
const ended: Run = { is: 'ended', exitCode: 0, reason: 'Completed', finishedAtMs: now };
const STATUS = 'patch Pod status default/p: what is seen of it has changed';
const DELETE = 'delete Pod default/p: nothing of it is left on its node';

function container(run: Run): ContainerRecord {
  return { name: 'main', isInit: false, restartCount: 0, crashes: 0, run };
}

function pod(metadata: Partial<ObjectMeta> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'default', uid: 'u', resourceVersion: '1', ...metadata },
    spec: { restartPolicy: 'Never', containers: [{ name: 'main' }] },
  };
}

function deleting(graceSeconds: number): Pod {
  return pod({ deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: graceSeconds });
}

const usual: ObservedPod = { pod: pod(), containers: [container(running)], volumes: 'ready', podIP: '10.0.0.1', hostIP: '127.0.0.1', now };

const cases: [string, Partial<ObservedPod>, string[]][] = [
  [
    'a Pod that nobody looks after is taken over first',
    { isNew: true, containers: [], podIP: undefined },
    ['take over: the Pod is on this node', 'look again in 0s'],
  ],
  [
    'what starts is told when it is seen, not before',
    { containers: [container({ is: 'waiting' })] },
    ['start main: it has not run yet', 'look again in 0s'],
  ],
  ['what is seen is told', {}, [STATUS]],
  ['no writing holds up a kill', { pod: deleting(0) }, ['kill main: the Pod is being deleted', STATUS, 'look again in 1s']],
  [
    'how it ended is told before its traces go, and the object goes last',
    { pod: deleting(30), containers: [container(ended)] },
    [STATUS, 'clean up: the Pod is being deleted', DELETE, 'look again in 0s'],
  ],
  ['an object that could not be deleted is deleted later', { pod: deleting(30), containers: [], isCleanedUp: true }, [DELETE]],
  ['an object that somebody else holds is left alone', { pod: deleting(0), containers: [], isCleanedUp: true }, []],
  ['what is gone from everywhere is forgotten', { pod: undefined, containers: [], isCleanedUp: true }, ['forget: the Pod is gone']],
  [
    'a Pod that was removed by force is killed though nothing can be told',
    { pod: undefined },
    ['kill main: the Pod is gone', 'look again in 1s'],
  ],
];

describe('decidePod', () => {
  for (const [name, observed, expected] of cases) {
    test(name, () => assert.deepEqual(explain(decidePod({ ...usual, ...observed })), expected));
  }

  test('a status is written once, on condition that it is still the one that was seen', () => {
    const [action] = decidePod(usual).actions;
    assert.ok(action?.do === 'patch');
    assert.equal(action.resourceVersion, '1');
    const written = mergePatch(usual.pod, action.patch) as Pod;
    assert.deepEqual(decidePod({ ...usual, pod: written }).actions, []);
  });
});
