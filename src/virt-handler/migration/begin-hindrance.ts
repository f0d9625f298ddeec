/**
 * What the table of operations (api/kubevirt/exclusive-operations.ts) says of a guest, and what QEMU still does: a move that failed is over in the status
 * before its guest is called back.
 */
import { type GuestOperation, type Hindrance, hindranceOf } from '../../api/kubevirt/exclusive-operations.ts';
import type { ObservedDomain } from '../vmi/observed.ts';

/** Why this cannot be begun now; undefined when it can. */
export function beginHindranceOf(operation: GuestOperation, seen: ObservedDomain): Hindrance | undefined {
  return (
    guestHindranceOf(operation, seen) ?? (isSending(seen) ? { is: 'moved', why: 'the guest is being called back from a move' } : undefined)
  );
}

/** What the table says; the agent knows earlier than the status whether file systems are frozen. */
export function guestHindranceOf(operation: GuestOperation, { vmi, agent }: Pick<ObservedDomain, 'vmi' | 'agent'>): Hindrance | undefined {
  if (agent?.isFrozen === undefined) return hindranceOf(operation, vmi);
  return hindranceOf(operation, { ...vmi, status: { ...vmi.status, fsFreezeStatus: agent.isFrozen ? 'frozen' : '' } });
}

/** QEMU sends the guest to another node, or calls it back. */
export function isSending({ domain }: Pick<ObservedDomain, 'domain'>): boolean {
  return Object.values(domain.commands).some(
    ({ command, is }) => is === 'running' && (command.name === 'send' || command.name === 'call-back'),
  );
}
