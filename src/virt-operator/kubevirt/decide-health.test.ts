import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../api/core/pod.ts';
import { decideHealth, type HealthObserved, type Workload } from './decide-health.ts';

const labels = { 'app.kubernetes.io/version': 'v2' };

function deployment(available: number, status: Workload['status'] = {}): Workload {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'virt-api', namespace: 'kubevirt', generation: 1, labels },
    spec: { replicas: 2 },
    status: { observedGeneration: 1, updatedReplicas: 2, availableReplicas: available, ...status },
  };
}
function daemonSet(nodes: number, available = nodes): Workload {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'virt-handler', namespace: 'kubevirt', generation: 1, labels },
    status: { observedGeneration: 1, desiredNumberScheduled: nodes, updatedNumberScheduled: nodes, numberAvailable: available },
  };
}
function pod(status: object): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'virt-api-1', namespace: 'kubevirt' },
    spec: { containers: [] },
    status,
  } as Pod;
}
const waiting = (reason: string) =>
  pod({ containerStatuses: [{ name: 'x', image: 'r/x:1', state: { waiting: { reason, message: 'no' } } }] });

function stage(observed: Partial<HealthObserved>): string {
  const { stage: at, problem } = decideHealth({
    workloads: [deployment(2), daemonSet(1)],
    pods: [],
    version: 'v2',
    wasReady: true,
    ...observed,
  });
  return problem ? `${at}: ${problem.reason}` : at;
}

describe('decideHealth', () => {
  const CASES: [fact: string, observed: Partial<HealthObserved>, expected: string][] = [
    ['all rolled out and ready', {}, 'ready'],
    ['nothing there yet', { workloads: [undefined, undefined], wasReady: false }, 'deploying'],
    ['a workload is gone', { workloads: [undefined, daemonSet(1)] }, 'unavailable'],
    ['a change is not seen yet', { workloads: [deployment(2, { observedGeneration: 0 }), daemonSet(1)] }, 'updating'],
    ['a change is on its way', { workloads: [deployment(2, { updatedReplicas: 1 }), daemonSet(1)] }, 'updating'],
    ['one of two is ready', { workloads: [deployment(1), daemonSet(1)] }, 'degraded'],
    ['none is ready', { workloads: [deployment(0), daemonSet(1)] }, 'unavailable'],
    ['no node', { workloads: [deployment(2), daemonSet(0)], wasReady: false }, 'deploying: NoNodes'],
    [
      'an image that cannot be had',
      { workloads: [deployment(0), daemonSet(1)], pods: [waiting('ErrImagePull')], wasReady: false },
      'deploying: ImageCannotBePulled',
    ],
    ['a Pod that fails', { workloads: [deployment(0), daemonSet(1)], pods: [waiting('CrashLoopBackOff')] }, 'unavailable: ComponentFails'],
    [
      'a Pod that fits nowhere',
      { workloads: [deployment(1), daemonSet(1)], pods: [pod({ conditions: [{ type: 'PodScheduled', status: 'False' }] })] },
      'degraded: NoNodeFits',
    ],
    [
      'Pods that may not be made',
      { workloads: [deployment(0, { conditions: [{ type: 'ReplicaFailure', status: 'True', message: 'quota' }] }), daemonSet(1)] },
      'unavailable: PodsRefused',
    ],
  ];
  for (const [fact, observed, expected] of CASES) test(`${fact}: ${expected}`, () => assert.equal(stage(observed), expected));
});
