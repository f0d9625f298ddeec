/** Which ports the processes of a Pod listen on, read from the kernel's tables of its network. Pure but for two functions. */
import { readFileSync } from 'node:fs';
import type { Forward } from './slirp-control.ts';

const LISTENING = '0A';
/** Bound and not connected: as near to listening as UDP gets. */
const UNCONNECTED = '07';
const MAX_PORTS = 1024;

const NO_SOCKETS = 'TCP 0 UDP 0 TCP6 0 UDP6 0';
const READ_CHANGED_AFTER_MS = 2_000;
const READ_SAME_AFTER_MS = 10_000;

/** How many sockets of each kind the network has: what the kernel keeps anyway, and so a thousandth of the work of its tables. */
export function socketCounts(pid: number): string {
  const read = (name: string) => readFileSync(`/proc/${pid}/net/${name}`, 'utf8');
  return countsIn(`${read('sockstat')}${read('sockstat6')}`);
}

export function countsIn(table: string): string {
  return [...table.matchAll(/^(TCP6?|UDP6?): inuse (\d+)/gm)].map(([, kind, count]) => `${kind} ${count}`).join(' ');
}

export type Look = { readonly counts: string; readonly atMs: number };

/**
 * Whether the tables have to be read, given what was found when they were last. To read those of TCP the kernel goes through the connections of the
 * whole machine, which takes milliseconds however few there are here. Rules, first match wins:
 *
 *   never read                                    yes
 *   there is no socket now, and was none then     no
 *   other counts than then                        two seconds after the last time, at once when there was no socket then or is none now
 *   the same counts                               ten seconds after it: one socket may have taken the place of another
 */
export function isWorthReading(last: Look | undefined, now: Look): boolean {
  if (!last) return true;
  const isEmpty = [last.counts, now.counts].map((counts) => counts === NO_SOCKETS);
  if (last.counts === now.counts) return !isEmpty[0] && now.atMs - last.atMs >= READ_SAME_AFTER_MS;
  return isEmpty.includes(true) || now.atMs - last.atMs >= READ_CHANGED_AFTER_MS;
}

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
