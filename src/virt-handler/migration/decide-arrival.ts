/**
 * What the node does to which a guest was handed over, until it is there. First match wins.
 *
 *   what is seen                          what follows
 *   the guest was let go on               write when it was; set its clock, unless it is paused: it stood still for a while
 *   QEMU cannot be asked                  wait
 *   nobody has let it go on               let it: it runs, unless it was paused before
 *
 * Pure.
 */
import { vmiIs } from '../../api/kubevirt/condition-reasons.ts';
import { refOf } from '../../api/meta.ts';
import { timestamp } from '../../base/timestamp.ts';
import type { DomainDecision } from '../vmi/domain-action.ts';
import type { ObservedDomain } from '../vmi/observed.ts';

const AGAIN_MS = 2_000;

/** The guest is of this node since its last move, and was not let go on yet. */
export function isArriving({ vmi, pod }: ObservedDomain): boolean {
  const { completed, targetPod, targetNodeDomainReadyTimestamp } = vmi.status?.migrationState ?? {};
  return completed === true && targetNodeDomainReadyTimestamp === undefined && pod !== undefined && targetPod === pod.metadata.name;
}

/** Applies the first rule that matches. */
export function decideArrival({ vmi, domain, now }: ObservedDomain): DomainDecision {
  const isPaused = vmiIs(vmi, 'Paused');
  const arriving = domain.commands['arrive'];
  if (arriving?.is === 'done' || domain.state === 'running') {
    const patch = { status: { migrationState: { targetNodeDomainReadyTimestamp: timestamp(now) } } };
    const { resourceVersion } = vmi.metadata;
    const because = 'the guest is here';
    const written = { do: 'patch', target: refOf(vmi), patch, resourceVersion, because } as const;
    return { actions: [...(isPaused ? [] : [{ do: 'set clock', because } as const]), written] };
  }
  const isDue = arriving === undefined || (arriving.is !== 'running' && arriving.givenAt + AGAIN_MS <= now);
  if (!domain.isConnected || !isDue) return { actions: [], lookAgainAfterMs: AGAIN_MS };
  const command = { name: 'arrive', runs: !isPaused } as const;
  return { actions: [{ do: 'command', id: 'arrive', command, because: 'the guest was handed over to this node' }] };
}
