/** Questions that every workload asks of its Pods, and the Pod that a template makes. Pure. */
import { isPodFinal, PODS, type Pod } from '../../api/core/pod.ts';
import type { PodTemplate } from '../../api/core/pod-template.ts';
import { conditionOf, controllerReferenceTo, hasCondition, isDeleting, type KubeObject } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/resource.ts';

/** It runs, or will. */
export function isPodActive(pod: Pod): boolean {
  return !isPodFinal(pod) && !isDeleting(pod);
}

export function isPodReady(pod: Pod): boolean {
  return hasCondition(pod.status?.conditions, 'Ready');
}

/** When a Pod has been ready for long enough; undefined when it is not ready. */
function availableAt(pod: Pod, minReadySeconds = 0): number | undefined {
  const ready = conditionOf(pod.status?.conditions, 'Ready');
  if (ready?.status !== 'True') return undefined;
  return minReadySeconds === 0 ? 0 : Date.parse(ready.lastTransitionTime ?? '') + minReadySeconds * 1000;
}

export function isPodAvailable(pod: Pod, minReadySeconds: number | undefined, now: number): boolean {
  const at = availableAt(pod, minReadySeconds);
  return at !== undefined && at <= now;
}

/** In how long the next of them becomes available, if one is about to. */
export function nextAvailableMs(pods: readonly Pod[], minReadySeconds: number | undefined, now: number): number | undefined {
  const times = pods.flatMap((pod) => availableAt(pod, minReadySeconds) ?? []).filter((at) => at > now);
  return times.length === 0 ? undefined : Math.min(...times) - now;
}

type NewPod = {
  readonly owner: KubeObject;
  readonly template: PodTemplate;
  readonly name: string;
  readonly labels?: Record<string, string>;
};

/** A Pod of this owner; what else it has comes from the template. */
export function podFrom({ owner, template, name, labels }: NewPod): Pod {
  const { metadata = {}, spec } = template;
  return {
    apiVersion: apiVersionOf(PODS),
    kind: 'Pod',
    metadata: {
      name,
      generateName: `${owner.metadata.name}-`,
      namespace: owner.metadata.namespace,
      labels: { ...metadata.labels, ...labels },
      ...(metadata.annotations && { annotations: metadata.annotations }),
      ...(metadata.finalizers && { finalizers: metadata.finalizers }),
      ownerReferences: [controllerReferenceTo(owner)],
    },
    spec,
  };
}
