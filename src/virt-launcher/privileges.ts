/** Who QEMU runs as. The node runtime starts us as root where it can, because our own files may be unreadable for others; QEMU never is. */
import { chownSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../base/errors.ts';

export type Identity = { readonly uid: number; readonly gid: number };
type Environment = Readonly<Record<string, string | undefined>>;

/** The user that upstream runs QEMU as; used when root starts us without saying another. */
const QEMU_USER = 107;

/** Who to become, or undefined when we are not root and already are who we should be. */
export function identityFor(env: Environment): Identity | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const uid = idOf(env, 'CONTAINER_RUN_AS_USER') ?? QEMU_USER;
  return { uid, gid: idOf(env, 'CONTAINER_RUN_AS_GROUP') ?? uid };
}

/** Hands over the files that were made in `folder`, but not second names of files that belong to others (`base...`). */
export function giveAway(folder: string, { uid, gid }: Identity): void {
  chownSync(folder, uid, gid);
  for (const name of readdirSync(folder)) if (name.startsWith('disk')) chownSync(join(folder, name), uid, gid);
}

/** Becomes that user for good: groups first, as only root may change them. */
export function become({ uid, gid }: Identity): void {
  process.setgroups?.([gid, ...kvmGroup()]);
  process.setgid?.(gid);
  process.setuid?.(uid);
}

/** Hosts give /dev/kvm to a group; without it QEMU could not use what root can. */
function kvmGroup(): number[] {
  try {
    const { gid, mode } = statSync('/dev/kvm');
    return gid !== 0 && (mode & 0o060) === 0o060 ? [gid] : [];
  } catch {
    return []; // no /dev/kvm
  }
}

function idOf(env: Environment, name: string): number | undefined {
  const text = env[name];
  if (!text) return undefined;
  if (!/^\d{1,9}$/.test(text)) throw new UserError('USER_INVALID', `${name}=${text} is not a user id`);
  return Number(text);
}
