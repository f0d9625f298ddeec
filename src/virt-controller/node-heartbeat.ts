/** When the virt-handler of a node was last heard of: without it nobody knows how its guests are. */
import type { Node } from '../api/core/node.ts';
import { ANNOTATION_HEARTBEAT, HEARTBEAT_STALE_AFTER_MS } from '../api/kubevirt/names.ts';
import { conditionOf } from '../api/meta.ts';
import type { Cache } from '../client/cache.ts';

/**
 * Undefined for an instance that has no node yet. A node that is gone has not been heard of since the beginning of time; nor has one that
 * Kubernetes itself no longer hears of, which it notices minutes before a heartbeat is too old.
 */
export function heartbeatAtOf(nodes: Pick<Cache<Node>, 'get'>, nodeName: string | undefined): number | undefined {
  if (!nodeName) return undefined;
  const node = nodes.get(nodeName);
  if (conditionOf(node?.status?.conditions, 'Ready')?.status === 'Unknown') return 0;
  const at = Date.parse(node?.metadata.annotations?.[ANNOTATION_HEARTBEAT] ?? '');
  return Number.isNaN(at) ? 0 : at;
}

export function isStale(heartbeatAt: number | undefined, now: number): boolean {
  return heartbeatAt !== undefined && now - heartbeatAt > HEARTBEAT_STALE_AFTER_MS;
}
