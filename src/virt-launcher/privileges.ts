/**
 * Who does what. The node runtime starts us as root where it can, because our own files and the image store may be closed to others; QEMU
 * never is root. Other containers of the Pod may write to its volumes, so a path in a volume can be a trap for root. Hence we step down
 * before anything in a volume is touched, and step up only to open what the node runtime itself has made.
 */
import { statSync } from 'node:fs';
import { QEMU_USER } from '../api/launcher/compute.ts';
import { RUN_AS_VARIABLES } from '../api/launcher/variables.ts';
import { UserError } from '../base/errors.ts';

export type Privileges = {
  /** Whom QEMU runs as; undefined when we are that already. */
  readonly user: { readonly uid: number; readonly gid: number; readonly groups: readonly number[] } | undefined;
  /** Does one thing as root, if we were started as root. */
  asRoot<T>(use: () => T): T;
  /** Becomes QEMU's user for good. */
  dropForGood(): void;
  /** Is root again, for a program that becomes QEMU's user itself. */
  stepUp(): void;
};
type Environment = Readonly<Record<string, string | undefined>>;

const ROOT = 0;

/** Steps down to the user that QEMU will run as, upstream's when root starts us without saying another; does nothing when we are not root and already are who we should be. */
export function stepDown(env: Environment): Privileges {
  const uid = idOf(env, RUN_AS_VARIABLES.user) ?? QEMU_USER;
  const gid = idOf(env, RUN_AS_VARIABLES.group) ?? uid;
  if (process.getuid?.() !== ROOT) return { user: undefined, asRoot: (use) => use(), dropForGood() {}, stepUp() {} };
  if (uid === ROOT) throw new UserError('USER_INVALID', `${RUN_AS_VARIABLES.user}=0: QEMU never runs as root`);
  const groups = [...groupsOf(env), ...kvmGroup()];
  process.setgroups?.([gid, ...groups]); // first: only root may change groups
  process.setegid?.(gid);
  process.seteuid?.(uid);
  return {
    user: { uid, gid, groups },
    asRoot(use) {
      process.seteuid?.(ROOT);
      try {
        return use();
      } finally {
        process.seteuid?.(uid);
      }
    },
    dropForGood() {
      process.seteuid?.(ROOT); // as root these two also set the saved ids, so there is no way back
      process.setgid?.(gid);
      process.setuid?.(uid);
    },
    stepUp() {
      process.seteuid?.(ROOT);
      process.setegid?.(ROOT);
    },
  };
}

/** Hosts give /dev/kvm to a group; without it QEMU could not use what root can. */
function kvmGroup(): number[] {
  try {
    const { gid, mode } = statSync('/dev/kvm');
    return gid !== ROOT && (mode & 0o060) === 0o060 ? [gid] : [];
  } catch {
    return []; // no /dev/kvm
  }
}

/** Those of the claims that the Pod mounts. */
function groupsOf(env: Environment): number[] {
  const text = env[RUN_AS_VARIABLES.groups] ?? '';
  if (!/^(?:\d{1,10}(?:,\d{1,10})*)?$/.test(text))
    throw new UserError('USER_INVALID', `${RUN_AS_VARIABLES.groups}=${text} are not group ids`);
  return text === '' ? [] : text.split(',').map(Number);
}

function idOf(env: Environment, name: string): number | undefined {
  const text = env[name];
  if (!text) return undefined;
  if (!/^\d{1,10}$/.test(text)) throw new UserError('USER_INVALID', `${name}=${text} is not a user id`);
  return Number(text);
}
