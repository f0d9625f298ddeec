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
  if (process.getuid?.() !== 0) return undefined;
  return rangeWithin(['uid_map', 'gid_map'].map((name) => readFileSync(`/proc/self/${name}`, 'utf8')));
}

/** The first range that is whole in each of these maps of a user namespace. */
export function rangeWithin(maps: readonly string[]): IdRange | undefined {
  const parsed = maps.map((map) =>
    map
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/).map(Number)),
  );
  const isWhole = ({ first, count }: IdRange, [start = 0, , length = 0]: readonly number[]) =>
    first >= start && first + count <= start + length;
  return RANGES.find((range) => parsed.every((map) => map.some((line) => isWhole(range, line))));
}
