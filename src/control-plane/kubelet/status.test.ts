import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod, PodSpec, ResourceRequirements } from '../../api/core/pod.ts';
import type { Condition } from '../../api/meta.ts';
import type { ContainerRecord, Run } from './container-record.ts';
import { oomScoreOf, qosClassOf } from './default-qos-class.ts';
import { derivePodStatus } from './status.ts';

const now = Date.parse('2026-01-01T00:10:00Z');
const running: Run = { is: 'running', process: { pid: 7, startTime: '1', bootId: 'b' }, startedAtMs: now - 60_000 };
const ended = (exitCode: number): Run => ({
  is: 'ended',
  exitCode,
  reason: exitCode ? 'Error' : 'Completed',
  startedAtMs: now - 1_000,
  finishedAtMs: now,
});

function pod(spec: Partial<PodSpec> = {}, status?: Pod['status']): Pod {
  const containers = [{ name: 'main', image: 'test/shell' }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'default', uid: 'u' },
    spec: { restartPolicy: 'Never', containers, ...spec },
    status,
  };
}

function derive(run: Run, options: { pod?: Pod; more?: Partial<ContainerRecord>; now?: number } = {}) {
  const container: ContainerRecord = { name: 'main', isInit: false, restartCount: 0, crashes: 0, run, ...options.more };
  return derivePodStatus({
    pod: options.pod ?? pod(),
    containers: [container],
    volumes: 'ready',
    podIP: '10.244.0.2',
    hostIP: '127.0.0.1',
    now: options.now ?? now,
  });
}

const conditionsOf = (conditions: readonly Condition[] = []) =>
  conditions.map(({ type, status, reason }) => [type, status, ...(reason ? [reason] : [])].join(' '));

test('a running Pod, in full', () => {
  const at = '2026-01-01T00:10:00Z';
  assert.deepEqual(derive(running), {
    phase: 'Running',
    conditions: ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
      type,
      status: 'True',
      lastTransitionTime: at,
    })),
    hostIP: '127.0.0.1',
    podIP: '10.244.0.2',
    podIPs: [{ ip: '10.244.0.2' }],
    startTime: at,
    qosClass: 'BestEffort',
    containerStatuses: [
      {
        name: 'main',
        image: 'test/shell',
        imageID: 'test/shell',
        containerID: 'process://u-main-0',
        ready: true,
        started: true,
        restartCount: 0,
        state: { running: { startedAt: '2026-01-01T00:09:00Z' } },
        lastState: {},
      },
    ],
  });
});

test('nothing differs a minute later', () => {
  const first = derive(running);
  assert.deepEqual(derive(running, { pod: pod({}, first), now: now + 60_000 }), first);
});

test('conditions of others stay, also those that we would have written otherwise', () => {
  const others: Condition[] = [
    { type: 'PodScheduled', status: 'True', lastTransitionTime: '2025-01-01T00:00:00Z' },
    { type: 'example.com/gate', status: 'False', reason: 'Because' },
  ];
  const { conditions } = derive(running, { pod: pod({}, { conditions: others }) });
  assert.deepEqual(conditions?.slice(-2), others);
});

describe('readiness', () => {
  const gated = (conditions: Condition[]) => pod({ readinessGates: [{ conditionType: 'g' }] }, { conditions });
  const cases: [string, Run, Pod, string][] = [
    ['a gate that nobody has opened', running, gated([]), 'Ready False ReadinessGatesNotReady'],
    ['a gate that is closed', running, gated([{ type: 'g', status: 'False' }]), 'Ready False ReadinessGatesNotReady'],
    ['a gate that is open', running, gated([{ type: 'g', status: 'True' }]), 'Ready True'],
    ['a container that waits', { is: 'waiting' }, pod(), 'Ready False ContainersNotReady'],
    ['a Pod that is done', ended(0), pod(), 'Ready False PodCompleted'],
    ['a Pod that has failed', ended(1), pod(), 'Ready False PodFailed'],
  ];
  for (const [name, run, each, expected] of cases) {
    test(`${name}: ${expected}`, () => assert.ok(conditionsOf(derive(run, { pod: each }).conditions).includes(expected)));
  }
});

describe('phase', () => {
  const cases: [string, Run, Pod, string][] = [
    ['nothing has started', { is: 'waiting' }, pod(), 'Pending'],
    ['success under Never', ended(0), pod(), 'Succeeded'],
    ['failure under Never', ended(2), pod(), 'Failed'],
    ['failure under OnFailure', ended(2), pod({ restartPolicy: 'OnFailure' }), 'Running'],
    ['success under OnFailure', ended(0), pod({ restartPolicy: 'OnFailure' }), 'Succeeded'],
    ['success under Always', ended(0), pod({ restartPolicy: 'Always' }), 'Running'],
    ['there is no way back from Failed', running, pod({}, { phase: 'Failed' }), 'Failed'],
  ];
  for (const [name, run, each, expected] of cases)
    test(`phase ${expected}: ${name}`, () => assert.equal(derive(run, { pod: each }).phase, expected));
});

test('a container that will start again shows how its last run ended', () => {
  const { containerStatuses } = derive(ended(1), { pod: pod({ restartPolicy: 'Always' }), more: { crashes: 2 } });
  const [status] = containerStatuses ?? [];
  assert.equal(status?.state?.waiting?.reason, 'CrashLoopBackOff');
  assert.equal(status?.lastState?.terminated?.exitCode, 1);
});

describe('quality of service', () => {
  const cases: [string, ResourceRequirements | undefined, string][] = [
    ['nothing asked for', undefined, 'BestEffort'],
    ['a request', { requests: { memory: '1Gi' } }, 'Burstable'],
    ['limits alone are requests, too', { limits: { cpu: '1', memory: '1Gi' } }, 'Guaranteed'],
    ['limits above requests', { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2', memory: '1Gi' } }, 'Burstable'],
  ];
  for (const [name, resources, expected] of cases) {
    test(`QoS class ${expected}: ${name}`, () => assert.equal(qosClassOf(pod({ containers: [{ name: 'main', resources }] })), expected));
  }
});

test('who asks for more memory is ended later when it runs out, and nobody outlives the kubelet', () => {
  const asking = (resources?: ResourceRequirements) => oomScoreOf(pod({ containers: [{ name: 'main', resources }] }), 4 * 2 ** 30);
  const guaranteed = { limits: { cpu: '1', memory: '1Gi' } };
  assert.deepEqual(
    [asking(), asking({ requests: { memory: '1Gi' } }), asking({ requests: { memory: '64Gi' } }), asking(guaranteed)],
    [1000, 750, 3, 2],
  );
});
