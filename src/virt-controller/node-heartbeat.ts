/** When the virt-handler of a node was last heard of: without it nobody knows how its guests are. */
import type { Node } from '../api/core/node.ts';
import type { VirtualMachineInstance } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ANNOTATION_HEARTBEAT, HEARTBEAT_STALE_AFTER_MS } from '../api/kubevirt/names.ts';
import { conditionOf, keyOf } from '../api/meta.ts';
import type { Clock } from '../base/clock.ts';
import type { Cache } from '../client/cache.ts';

/**
 * Undefined for an instance that has no node yet. A node that is gone has not been heard of since the beginning of time; nor has one that
 * Kubernetes itself no longer hears of, which it notices minutes before a heartbeat is too old.
 */
export function heartbeatAtOf(nodes: Pick<Cache<Node>, 'get'>, nodeName: string | undefined): number | undefined {
  return nodeName ? lastHeardOf(nodes.get(nodeName)) : undefined;
}

/**
 * The instances that a change of a node concerns: those on one that is, or was, silent. The beats of a node that is heard of concern nobody,
 * for they come every minute and from everywhere.
 */
export function keysOnSilentNode({ vmis, clock }: { readonly vmis: Pick<Cache<VirtualMachineInstance>, 'list'>; readonly clock: Clock }) {
  return (node: Node): readonly string[] => {
    if (!isStale(lastHeardOf(node), clock.now())) return [];
    const { name } = node.metadata;
    return vmis.list().flatMap(({ status, metadata }) => (status?.nodeName === name ? [keyOf(metadata)] : []));
  };
}

function lastHeardOf(node: Node | undefined): number {
  if (conditionOf(node?.status?.conditions, 'Ready')?.status === 'Unknown') return 0;
  const at = Date.parse(node?.metadata.annotations?.[ANNOTATION_HEARTBEAT] ?? '');
  return Number.isNaN(at) ? 0 : at;
}

export function isStale(heartbeatAt: number | undefined, now: number): boolean {
  return heartbeatAt !== undefined && now - heartbeatAt > HEARTBEAT_STALE_AFTER_MS;
}
