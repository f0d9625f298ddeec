/**
 * Which users of the host the users of containers are. As root, containers have 65536 users of their own, far from those of people; an
 * ordinary user has one to give, itself, and every container then has one user.
 */
import { writeFileSync } from 'node:fs';
import type { Shift } from '../../../images/unpack-root.ts';
import type { MayBecome } from '../privileges.ts';

export type IdMapping = {
  /** The user and group of the host that are root inside. */
  readonly uid: number;
  readonly gid: number;
  readonly count: number;
};

const COUNT = 65_536;
/** A range that neither people nor other tools for containers use by default. */
const FIRST = 0x4000_0000;

/** The mapping for containers of this kubelet; undefined when root is not given enough users by whoever runs us. */
export function idMappingFor(
  mayBecome: MayBecome,
  self = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
): IdMapping | undefined {
  if (self.uid !== 0) return { ...self, count: 1 };
  return mayBecome(FIRST) && mayBecome(FIRST + COUNT - 1) ? { uid: FIRST, gid: FIRST, count: COUNT } : undefined;
}

/** Owners of the files of an image; as an ordinary user everything is ours. */
export function shiftOf({ uid, gid, count }: IdMapping): Shift | undefined {
  return count === 1 ? undefined : { uid, gid, count };
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
