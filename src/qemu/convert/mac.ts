/** Hardware addresses: given, or derived so that a machine keeps its own over restarts (guests name their cards and leases after it). */
import type { Interface } from '../../api/kubevirt/vmi-spec-schema.ts';
import type { ConvertInput } from './input.ts';
import { isUnicastMac } from './limits.ts';
import { specError } from './option-text.ts';

/** The hardware address of one card of an instance. */
export function macOf({ metadata, spec }: ConvertInput['vmi'], card: Interface): string {
  if (card.macAddress) return checked(card.macAddress, `spec.domain.devices.interfaces[${JSON.stringify(card.name)}].macAddress`);
  const identity = spec.domain.firmware?.uuid || `${metadata.namespace ?? 'default'}/${metadata.name}`;
  const seed = `${identity.toLowerCase()}/${card.name}`;
  const bits = [fnv1a(seed, 0x811c9dc5), fnv1a(seed, 0x5bd1e995)].map((hash) => hash.toString(16).padStart(8, '0')).join('');
  // 02 = locally administered. The byte after it is never 0, which keeps clear of 02:00:00:00:00:00, the bridge of KubeVirt Pods.
  const bytes = bits.slice(0, 10).match(/../g) ?? [];
  return ['02', ...(bytes[0] === '00' ? ['01', ...bytes.slice(1)] : bytes)].join(':');
}

function checked(mac: string, field: string): string {
  if (!isUnicastMac(mac)) throw specError('MAC_INVALID', field, `it must be a unicast address such as 02:11:22:33:44:55`);
  return mac.replaceAll('-', ':').toLowerCase();
}

/** A small well-mixed hash; nothing secret depends on it. */
function fnv1a(text: string, start: number): number {
  let hash = start;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return hash;
}
