/** How big a guest is: the questions about processors and memory that a spec can answer in several places. */
import { parseQuantity } from '../../base/quantity.ts';
import type { VmiSpec } from './vmi-spec-schema.ts';

/** What q35 takes without an IOMMU. */
export const MOST_CPUS = 255;

/** Of one card, one by one and in ranges: each port that is open costs the kernel three and a half kilobytes. */
export const MOST_PORTS = 512;

/**
 * Virtual processors: the topology if any part of it is given, else the cpu limit or request rounded up, else 1. What a Pod asks for may be any
 * amount, and is the scheduler's to refuse; no guest has more processors than there can be.
 */
export function vcpusOf({ domain }: VmiSpec): number {
  const { cores, sockets, threads } = domain.cpu ?? {};
  if (cores || sockets || threads) return (cores || 1) * (sockets || 1) * (threads || 1);
  const { limits, requests } = domain.resources ?? {};
  return Math.min(MOST_CPUS, Math.max(1, Math.ceil(amount(limits?.['cpu'] ?? requests?.['cpu']) ?? 1)));
}

/** Bytes of memory that the guest sees, or undefined when the spec does not say. */
export function guestMemoryBytesOf({ domain }: VmiSpec): number | undefined {
  const { limits, requests } = domain.resources ?? {};
  return amount(domain.memory?.guest) ?? amount(requests?.['memory']) ?? amount(limits?.['memory']);
}

function amount(quantity: string | number | undefined): number | undefined {
  return quantity === undefined ? undefined : parseQuantity(quantity);
}
