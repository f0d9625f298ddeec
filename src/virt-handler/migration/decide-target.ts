/**
 * What the node does that a guest is to come to, until it is handed over. First match wins.
 *
 *   what is seen                                what follows
 *   the move is over                            end QEMU: the guest has not come
 *   QEMU is gone, or its Pod                    failed: whoever told of the move may not be there any more to say so
 *   QEMU waits and was not told for what        get it ready to take disks and memory
 *   it could not be got ready                   failed
 *   it is ready, and nobody was told            publish where the guest can be sent to
 *   anything else                               wait
 *
 * Nothing here lets the guest run. Pure.
 */
import { isPodFinal } from '../../api/core/pod.ts';
import { isMoving } from '../../api/kubevirt/kinds/migration.ts';
import type { VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { refOf } from '../../api/meta.ts';
import { timestamp } from '../../base/timestamp.ts';
import { copiedDisksOf } from '../../qemu/convert/copied-disks.ts';
import type { EventToRecord } from '../../reconcile/decision.ts';
import type { DomainDecision } from '../vmi/domain-action.ts';
import type { ObservedDomain } from '../vmi/observed.ts';

type State = NonNullable<VmiStatus['migrationState']>;
const NOTHING: DomainDecision = { actions: [] };
const AGAIN_MS = 5_000;

/** Applies the first rule that matches. */
export function decideTarget(seen: ObservedDomain): DomainDecision {
  const { vmi, pod, isPodGone, domain, door } = seen;
  const state = vmi.status?.migrationState ?? {};
  const receiving = domain.commands['receive'];
  if (!isMoving(state)) return end(seen);
  if (isPodGone) return fail(seen, 'the Pod that it was to come to is gone');
  if (domain.isGone || (pod && isPodFinal(pod))) return fail(seen, 'QEMU of the target has ended');
  if (domain.state === 'incoming' && domain.isConnected && receiving === undefined) return receive(seen);
  if (receiving?.is === 'failed') return fail(seen, `the target could not be made ready: ${receiving.reason}`);
  if (receiving?.is === 'done' && state.targetNodeAddress === undefined && door) {
    const { host, port } = door;
    const migrationState = { targetNodeAddress: host, targetDirectMigrationNodePorts: { [port]: 0 }, targetNodeDomainDetected: true };
    const message = `Node ${state.targetNode} is ready to take the guest.`;
    return write(seen, migrationState, 'QEMU waits for the guest', { type: 'Normal', reason: 'PreparingTarget', message });
  }
  return NOTHING;
}

function receive({ vmi }: ObservedDomain): DomainDecision {
  const command = { name: 'receive', disks: copiedDisksOf(vmi.spec) } as const;
  return { actions: [{ do: 'command', id: 'receive', command, because: 'a guest is to come' }] };
}

/** A guest that was handed over is seen as one of this node; until its label says so there is nothing to do. */
function end({ vmi, domain, now }: ObservedDomain): DomainDecision {
  const last = domain.commands['quit'];
  const isDue = last === undefined || (last.is !== 'running' && last.givenAt + AGAIN_MS <= now);
  if (vmi.status?.migrationState?.completed || domain.isGone || !domain.isConnected || !isDue) return NOTHING;
  return {
    actions: [{ do: 'command', id: 'quit', command: { name: 'quit' }, because: 'the guest does not come' }],
    lookAgainAfterMs: AGAIN_MS,
  };
}

function fail(seen: ObservedDomain, failureReason: string): DomainDecision {
  const told: EventToRecord = { type: 'Warning', reason: 'Migrated', message: `The guest stays on its node: ${failureReason}.` };
  return write(seen, { failed: true, failureReason, endTimestamp: timestamp(seen.now) }, failureReason, told);
}

function write({ vmi }: ObservedDomain, migrationState: Partial<State>, because: string, event: EventToRecord): DomainDecision {
  const { resourceVersion } = vmi.metadata;
  return { actions: [{ do: 'patch', target: refOf(vmi), patch: { status: { migrationState } }, resourceVersion, because, event }] };
}
