/**
 * Which users of the host the users of containers are. As root, containers have up to 65536 users of their own; an ordinary
 * user without subordinate ids has one to give, itself, and every container then has one user.
 */
import { writeFileSync } from 'node:fs';
import { idWithin, type Shift } from '../../../images/unpack-root.ts';
import type { MayBecome } from '../privileges.ts';
import type { ContainerUser } from './container-user.ts';

export type IdMapping = {
  /** The user and group of the host that are root inside. */
  readonly uid: number;
  readonly gid: number;
  readonly count: number;
};

/**
 * The first are far from those of people and of other tools for containers. Where there are but 64k users, the second are those before the users
 * of machines; ids of an image beyond their number become one of nobody.
 */
const RANGES = [
  { first: 0x4000_0000, count: 65_536 },
  { first: 1, count: 39_999 },
];

/** The mapping for containers of this kubelet; undefined when root is not given enough users by whoever runs us. */
export function idMappingFor(
  mayBecome: MayBecome,
  self = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
): IdMapping | undefined {
  if (self.uid !== 0) return { ...self, count: 1 };
  const range = RANGES.find(({ first, count }) => mayBecome(first) && mayBecome(first + count - 1));
  return range && { uid: range.first, gid: range.first, count: range.count };
}

/** Owners of the files of an image; as an ordinary user everything is ours. */
export function shiftOf({ uid, gid, count }: IdMapping): Shift | undefined {
  return count === 1 ? undefined : { uid, gid, count };
}

/** Who a container runs as, in ids that it has: the owner of what its image says is that user's. One user alone can have any id. */
export function userWithin({ uid, gid, groups }: ContainerUser, mapping: IdMapping): ContainerUser {
  if (mapping.count === 1) return { uid, gid, groups };
  const within = (id: number) => idWithin(id, mapping);
  return { uid: within(uid), gid: within(gid), groups: groups.map(within) };
}

/** Tells the kernel who is who in the user namespace of this process, which waits for it. */
export function writeIdMapping(pid: number, { uid, gid, count }: IdMapping): void {
  if (count === 1) writeFileSync(`/proc/${pid}/setgroups`, 'deny'); // what the kernel asks of ordinary users
  writeFileSync(`/proc/${pid}/uid_map`, `0 ${uid} ${count}`);
  writeFileSync(`/proc/${pid}/gid_map`, `0 ${gid} ${count}`);
}

/** How `nsenter` becomes root inside. */
export function enterUser({ count }: IdMapping): string[] {
  return count === 1 ? ['-U', '--preserve-credentials'] : ['-U'];
}
