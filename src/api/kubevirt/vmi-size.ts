/** How big a guest is: the questions about processors and memory that a spec can answer in several places. */
import { parseQuantity } from '../../base/quantity.ts';
import type { VmiSpec } from './vmi-spec-schema.ts';

/** Virtual processors: the topology if any part of it is given, else the cpu limit or request rounded up, else 1. */
export function vcpusOf({ domain }: VmiSpec): number {
  const { cores, sockets, threads } = domain.cpu ?? {};
  if (cores || sockets || threads) return (cores || 1) * (sockets || 1) * (threads || 1);
  const { limits, requests } = domain.resources ?? {};
  return Math.max(1, Math.ceil(amount(limits?.['cpu'] ?? requests?.['cpu']) ?? 1));
}

/** Bytes of memory that the guest sees, or undefined when the spec does not say. */
export function guestMemoryBytesOf({ domain }: VmiSpec): number | undefined {
  const { limits, requests } = domain.resources ?? {};
  return amount(domain.memory?.guest) ?? amount(requests?.['memory']) ?? amount(limits?.['memory']);
}

function amount(quantity: string | number | undefined): number | undefined {
  return quantity === undefined ? undefined : parseQuantity(quantity);
}
