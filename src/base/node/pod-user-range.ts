/**
 * The user and group ids that an embedded cluster gives to its Pods, one user to each machine: a range that neither distributions nor
 * systemd nor subordinate ids of users reach into, or, in a container that has but 64k of them, one between ordinary users and those of
 * services.
 */
import { readFileSync } from 'node:fs';

export type IdRange = { readonly first: number; readonly count: number };

const RANGES: readonly IdRange[] = [
  { first: 0x7000_0000, count: 2 ** 27 },
  { first: 40_000, count: 20_000 },
];

/** The range that can be used here; undefined when this process cannot become another user. */
export function podUserRange(): IdRange | undefined {
  return process.getuid?.() === 0 ? podUserRangeOf('self') : undefined;
}

/** The range that root of the user namespace of this process can use. */
export function podUserRangeOf(pid: number | 'self'): IdRange | undefined {
  return rangeWithin(mapsOf(pid));
}

/** All users of the user namespace of this process but its root: whatever a Pod could run as. */
export function usersAround(range: IdRange, pid: number): IdRange | undefined {
  const [users = ''] = mapsOf(pid);
  return otherUsers(range, users);
}

/** Of those around the range, which follow each other outside as well; the last number of all is nobody's. */
export function otherUsers({ first }: IdRange, map: string): IdRange | undefined {
  const line = linesOf(map).find(([start = 0, , length = 0]) => first >= start && first < start + length);
  if (!line) return undefined;
  const [start = 0, , length = 0] = line;
  const from = Math.max(start, 1);
  return { first: from, count: Math.min(start + length, 2 ** 32 - 1) - from };
}

function mapsOf(pid: number | 'self'): string[] {
  return ['uid_map', 'gid_map'].map((name) => readFileSync(`/proc/${pid}/${name}`, 'utf8'));
}

/** The first range that is whole in each of these maps of a user namespace. */
export function rangeWithin(maps: readonly string[]): IdRange | undefined {
  const parsed = maps.map(linesOf);
  const isWhole = ({ first, count }: IdRange, [start = 0, , length = 0]: readonly number[]) =>
    first >= start && first + count <= start + length;
  return RANGES.find((range) => parsed.every((map) => map.some((line) => isWhole(range, line))));
}

function linesOf(map: string): number[][] {
  return map
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
}
