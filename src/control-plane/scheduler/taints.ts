/** Taints keep Pods off a node, tolerations let them on. */
import type { Node, Taint } from '../../api/core/node.ts';
import type { Pod, Toleration } from '../../api/core/pod.ts';
import { hasCondition } from '../../api/meta.ts';

export const UNSCHEDULABLE: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
export const NOT_READY: Taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

/** The first taint that keeps this Pod off the node. */
export function untoleratedTaint(pod: Pod, node: Node): Taint | undefined {
  return taintsOf(node).find((taint) => taint.effect !== 'PreferNoSchedule' && !tolerates(pod, taint));
}

/** How many taints the Pod would rather avoid. */
export function dislikedTaints(pod: Pod, node: Node): number {
  return taintsOf(node).filter((taint) => taint.effect === 'PreferNoSchedule' && !tolerates(pod, taint)).length;
}

export function tolerates(pod: Pod, taint: Taint): boolean {
  return (pod.spec.tolerations ?? []).some((toleration) => covers(toleration, taint));
}

export function isReady(node: Node): boolean {
  return hasCondition(node.status?.conditions, 'Ready');
}

function taintsOf(node: Node): readonly Taint[] {
  return node.spec?.taints ?? [];
}

function covers({ key = '', operator = 'Equal', value = '', effect = '' }: Toleration, taint: Taint): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (operator === 'Exists') return key === '' || key === taint.key;
  return key === taint.key && value === (taint.value ?? '');
}
