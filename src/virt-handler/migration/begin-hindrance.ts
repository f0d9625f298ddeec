/**
 * What the table of operations (api/kubevirt/exclusive-operations.ts) says of a guest, and what QEMU still does: a move that failed is over in the status
 * before its guest is called back.
 */
import { type GuestOperation, type Hindrance, hindranceOf } from '../../api/kubevirt/exclusive-operations.ts';
import type { ObservedDomain } from '../vmi/observed.ts';

/** Why this cannot be begun now; undefined when it can. */
export function beginHindranceOf(operation: GuestOperation, { vmi, domain }: ObservedDomain): Hindrance | undefined {
  return (
    hindranceOf(operation, vmi) ?? (isSending({ domain }) ? { is: 'moved', why: 'the guest is being called back from a move' } : undefined)
  );
}

/** QEMU sends the guest to another node, or calls it back. */
export function isSending({ domain }: Pick<ObservedDomain, 'domain'>): boolean {
  return Object.values(domain.commands).some(
    ({ command, is }) => is === 'running' && (command.name === 'send' || command.name === 'call-back'),
  );
}
