/** Taints keep Pods off a node, tolerations let them on. */

import { hasCondition } from '../meta.ts';
import type { Node, Taint } from './node.ts';
import type { Pod, Toleration } from './pod.ts';

export const UNSCHEDULABLE: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
export const NOT_READY: Taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
export const UNREACHABLE: Taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' };
/** Somebody says that nothing runs on the node any more. */
export const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';

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

/** Whether this toleration is about this taint. */
export function covers({ key = '', operator = 'Equal', value = '', effect = '' }: Toleration, taint: Taint): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (operator === 'Exists') return key === '' || key === taint.key;
  return key === taint.key && value === (taint.value ?? '');
}
