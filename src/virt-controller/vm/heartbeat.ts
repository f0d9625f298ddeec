/** Whether the virt-handler that looks after an instance is still heard of: without it nobody knows how the guest is. Pure. */
import { HEARTBEAT_STALE_AFTER_MS } from '../../api/kubevirt/names.ts';
import { isDeleting } from '../../api/meta.ts';
import { isStale } from '../node-heartbeat.ts';
import type { ObservedVm } from './observed.ts';

/** How soon a node that came back is noticed. */
const CHECK_EVERY_MS = 30_000;

/** The instance should run, and its node has been silent for too long. */
export function isHandlerLost(observed: ObservedVm): boolean {
  return isWatched(observed) && isStale(observed.heartbeatAt, observed.now);
}

/** When to look at the heartbeat again; undefined when nobody depends on it. */
export function heartbeatCheckMs(observed: ObservedVm): number | undefined {
  const { heartbeatAt, now } = observed;
  if (heartbeatAt === undefined || !isWatched(observed)) return undefined;
  return isHandlerLost(observed) ? CHECK_EVERY_MS : heartbeatAt + HEARTBEAT_STALE_AFTER_MS + 1000 - now;
}

function isWatched({ vm, vmi }: ObservedVm): boolean {
  return !isDeleting(vm) && (vmi?.status?.phase === 'Running' || vmi?.status?.phase === 'Scheduled');
}
