/** Autoscalers and what they look at, for tests: state what matters, the rest is filled in. */
import type { HorizontalPodAutoscaler, MetricSpec } from '../../../api/core/horizontal-pod-autoscaler.ts';
import type { Pod } from '../../../api/core/pod.ts';
import { meta, NOW, podOf } from '../builders.testing.ts';
import type { ObservedAutoscaler, PodUsage } from './observed.ts';

export const CPU_50: MetricSpec = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } };

export function autoscaler(
  spec: Partial<HorizontalPodAutoscaler['spec']> = {},
  status?: HorizontalPodAutoscaler['status'],
): HorizontalPodAutoscaler {
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: meta('web'),
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      minReplicas: 1,
      maxReplicas: 10,
      metrics: [CPU_50],
      ...spec,
    },
    ...(status && { status }),
  };
}

/** Started an hour ago, asking for a core and 100 Mi. */
export function measuredPod(name: string, state: 'ready' | 'pending' | 'unready' = 'ready'): Pod {
  const pod = podOf(undefined, name, state);
  const resources = { requests: { cpu: '1', memory: '100Mi' } };
  const startTime = new Date(NOW - 3_600_000).toISOString();
  const conditions = pod.status?.conditions?.map((each) => ({ ...each, lastTransitionTime: startTime }));
  return { ...pod, spec: { ...pod.spec, containers: [{ name: 'main', resources }] }, status: { ...pod.status, startTime, conditions } };
}

export function usage(cpu: number, memory = 0): PodUsage {
  return { takenAtMs: NOW, windowMs: 15_000, containers: new Map([['main', { cpu, memory }]]) };
}

/** So many Pods that use so many cores each; `undefined` for one that nobody has measured. */
export function observedAutoscaler(cores: readonly (number | undefined)[], more: Partial<ObservedAutoscaler> = {}): ObservedAutoscaler {
  const pods = cores.map((_, index) => measuredPod(`p${index}`));
  const replicas = cores.length;
  return {
    autoscaler: autoscaler(),
    scale: { path: '/scale', specReplicas: replicas, statusReplicas: replicas, selector: 'app=web' },
    pods,
    usages: new Map(cores.flatMap((each, index) => (each === undefined ? [] : [[`p${index}`, usage(each)] as const]))),
    past: { recommendations: [], changes: [] },
    now: NOW,
    steadyMs: 1_000_000,
    ...more,
  };
}
