/** Name-based UUIDs (RFC 9562, version 5): the same namespace and name always give the same UUID. */
import { sha1 } from './sha1.ts';

/** The version 5 UUID of `name` in the namespace, which is itself a UUID. */
export function uuid5(namespace: string, name: string): string {
  const space = Uint8Array.from(namespace.replaceAll('-', '').match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
  const bytes = sha1(new Uint8Array([...space, ...new TextEncoder().encode(name)])).slice(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x50; // a digest has 20 bytes
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
