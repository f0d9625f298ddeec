/** IP addresses and ranges of them, as numbers. */
import { isIPv4, isIPv6 } from 'node:net';

export class Ip {
  readonly text: string;
  readonly family: 4 | 6;
  readonly value: bigint;
  constructor(text: string, family: 4 | 6, value: bigint) {
    this.text = text;
    this.family = family;
    this.value = value;
  }
}

export class Cidr {
  readonly ip: Ip;
  readonly prefix: number;
  constructor(ip: Ip, prefix: number) {
    this.ip = ip;
    this.prefix = prefix;
  }
}

const MAX_LENGTH = 50;

/** Undefined for what is no address; addresses with a zone or of IPv4 in IPv6 are none, as in Kubernetes. */
export function parseIp(text: string): Ip | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  if (isIPv4(text))
    return new Ip(
      text,
      4,
      text.split('.').reduce((value, part) => (value << 8n) | BigInt(part), 0n),
    );
  if (!isIPv6(text) || text.includes('%') || text.includes('.')) return undefined;
  const [head = '', tail] = text.split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':'));
  const [before, after] = [groups(head), groups(tail ?? '')];
  const all = tail === undefined ? before : [...before, ...new Array<string>(8 - before.length - after.length).fill('0'), ...after];
  return new Ip(
    text,
    6,
    all.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n),
  );
}

export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/');
  const ip = slash < 0 ? undefined : parseIp(text.slice(0, slash));
  const prefix = text.slice(slash + 1);
  if (!ip || !/^(0|[1-9]\d{0,2})$/.test(prefix) || Number(prefix) > bitsOf(ip)) return undefined;
  return new Cidr(ip, Number(prefix));
}

function bitsOf({ family }: Ip): number {
  return family === 4 ? 32 : 128;
}

export function contains(cidr: Cidr, ip: Ip): boolean {
  const shift = BigInt(bitsOf(cidr.ip) - cidr.prefix);
  return cidr.ip.family === ip.family && cidr.ip.value >> shift === ip.value >> shift;
}

/** The shortest spelling: lower case, the longest run of zeros left out. */
export function canonicalText({ family, value, text }: Ip): string {
  if (family === 4) return text;
  const groups = Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16));
  const runs = [...groups.join(':').matchAll(/(?:^|(?<=:))0(?::0)+(?=:|$)/g)].map(([run]) => run);
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '');
  if (longest === '') return groups.join(':');
  const joined = groups.join(':');
  const at = joined.search(new RegExp(`(?:^|(?<=:))${longest}(?=:|$)`)); // only zeros and colons
  return `${joined.slice(0, at).replace(/:$/, '')}::${joined.slice(at + longest.length).replace(/^:/, '')}`;
}

/** The address with all bits after the prefix cleared. */
export function masked({ ip, prefix }: Cidr): Cidr {
  const shift = BigInt(bitsOf(ip) - prefix);
  const value = (ip.value >> shift) << shift;
  const text = ip.family === 4 ? [24n, 16n, 8n, 0n].map((by) => (value >> by) & 0xffn).join('.') : '';
  const bare = new Ip(text, ip.family, value);
  return new Cidr(new Ip(canonicalText(bare), ip.family, value), prefix);
}

const RANGES = {
  loopback: ['127.0.0.0/8', '::1/128'],
  unspecified: ['0.0.0.0/32', '::/128'],
  linkLocal: ['169.254.0.0/16', 'fe80::/10'],
  linkLocalMulticast: ['224.0.0.0/24', 'ff02::/16'],
  multicast: ['224.0.0.0/4', 'ff00::/8'],
  broadcast: ['255.255.255.255/32'],
} as const;

export function isIn(ip: Ip, range: keyof typeof RANGES): boolean {
  return RANGES[range].some((text) => {
    const cidr = parseCidr(text);
    return cidr !== undefined && contains(cidr, ip);
  });
}
