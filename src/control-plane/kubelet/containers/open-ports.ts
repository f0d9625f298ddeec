/** Which ports the processes of a Pod listen on, read from the kernel's tables of its network. Pure but for one function. */
import { readFileSync } from 'node:fs';
import type { Forward } from './slirp-control.ts';

const LISTENING = '0A';
/** Bound and not connected: as near to listening as UDP gets. */
const UNCONNECTED = '07';
const MAX_PORTS = 1024;

/** The ports that somebody outside of the Pod could reach: not those of its loopback. */
export function openPortsOf(pid: number): Forward[] {
  const read = (name: string) => readFileSync(`/proc/${pid}/net/${name}`, 'utf8');
  return [...portsIn(`${read('tcp')}${read('tcp6')}`, 'tcp'), ...portsIn(`${read('udp')}${read('udp6')}`, 'udp')].slice(0, MAX_PORTS);
}

/** Each port once. */
export function portsIn(table: string, protocol: Forward['protocol']): Forward[] {
  const wanted = protocol === 'tcp' ? LISTENING : UNCONNECTED;
  const ports = new Set<number>();
  for (const [, address = '', port = '', state = ''] of table.matchAll(
    /^\s*\d+: ([0-9A-F]+):([0-9A-F]{4}) [0-9A-F]+:[0-9A-F]{4} ([0-9A-F]{2}) /gm,
  ))
    if (state === wanted && !isLoopback(address)) ports.add(Number.parseInt(port, 16));
  return [...ports].sort((a, b) => a - b).map((port) => ({ protocol, port }));
}

/** The kernel prints words of four bytes in the order of this machine, which is the reverse of the network's. */
function isLoopback(address: string): boolean {
  if (address.length === 8) return address.endsWith('7F');
  return address === '00000000000000000000000001000000' || (address.startsWith('0000000000000000FFFF0000') && address.endsWith('7F'));
}
