/**
 * The users that the system has put aside for somebody who is not root (/etc/subuid, /etc/subgid). In a user namespace with them the embedded
 * cluster is root to its guests, and gives each a user of its own, as it does where it really is root.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../base/errors.ts';
import { findProgram } from '../../base/node/find-program.ts';
import { rangeWithin } from '../../base/node/pod-user-range.ts';

/** Why guests cannot have users of their own here, and what would help. */
export type NoUsers = { readonly why: string; readonly fix: string };

/** The programs that the kernel trusts with it. */
const PROGRAMS = ['newuidmap', 'newgidmap'];
const WITH_USERS = ['--user', '--map-root-user', '--map-auto'];
const KVM = '/dev/kvm';
const PATIENCE_MS = 5_000;

/** What the system says about it. */
export type UserFacts = {
  readonly missingProgram: string | undefined;
  /** The namespace that was tried: its maps of users and groups, or why there is none. */
  readonly tried: { readonly maps: readonly string[] } | { readonly error: string };
  /** QEMU as this user has /dev/kvm, as another it would not. */
  readonly isKvmOursAlone: boolean;
};

/** The options of `unshare` for the namespace that the cluster runs in; none for root, who has users already. */
export function namespaceOfUsers(home: string): string[] {
  return process.getuid?.() === 0 ? [] : chooseNamespace(whyNoUsers(), existsSync(join(home, 'pod-users.json')));
}

/** Throws when files of the data folder are of users that there are no longer. */
export function chooseNamespace(missing: NoUsers | undefined, hasFilesOfUsers: boolean): string[] {
  if (!missing) return WITH_USERS;
  if (hasFilesOfUsers)
    throw new UserError('GUEST_USERS_MISSING', 'files of this data folder belong to users that cannot be had any more', { ...missing });
  return ['--user', '--map-current-user', '--keep-caps'];
}

/** Asked of the system itself, which says it best; undefined when guests can have users of their own. */
export function whyNoUsers(): NoUsers | undefined {
  const missingProgram = PROGRAMS.find((program) => !findProgram(program, process.env['PATH']));
  return judgeUsers({
    missingProgram,
    tried: missingProgram ? { error: '' } : tryUsers(),
    isKvmOursAlone: isKvmOpenTo(us) && !isKvmOpenTo(everybody),
  });
}

export function judgeUsers({ missingProgram, tried, isKvmOursAlone }: UserFacts): NoUsers | undefined {
  if (missingProgram) return { why: `${missingProgram} is not installed`, fix: 'apt-get install uidmap' };
  if ('error' in tried || !rangeWithin(tried.maps)) {
    return {
      why: `the system has not put 65536 users and groups aside for you${'error' in tried ? `: ${tried.error}` : ''}`,
      fix: 'sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 $USER, with numbers that nobody else has in /etc/subuid',
    };
  }
  if (!isKvmOursAlone) return undefined;
  return { why: `others than you could not use ${KVM}`, fix: `sudo chmod 666 ${KVM}; without it machines would be slow` };
}

function tryUsers(): UserFacts['tried'] {
  const script = 'cat /proc/self/uid_map; echo; cat /proc/self/gid_map';
  const { status, stdout, stderr } = spawnSync('unshare', [...WITH_USERS, 'sh', '-c', script], { encoding: 'utf8', timeout: PATIENCE_MS });
  return status === 0 ? { maps: stdout.split('\n\n') } : { error: stderr?.trim().split('\n')[0] || 'no answer' };
}

function isKvmOpenTo(who: (path: string) => boolean): boolean {
  try {
    return who(KVM);
  } catch {
    return false; // there is none, or it is closed
  }
}

function us(path: string): boolean {
  accessSync(path, constants.R_OK | constants.W_OK);
  return true;
}

function everybody(path: string): boolean {
  return (statSync(path).mode & 0o006) === 0o006;
}

/** Removes a folder, also what users of guests have made in it. */
export function removeWithUsers(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // what node throws
    if ((code !== 'EACCES' && code !== 'EPERM') || process.getuid?.() === 0) throw error;
    const { status, stderr } = spawnSync('unshare', [...WITH_USERS, 'rm', '-rf', '--', folder], { encoding: 'utf8' });
    if (status === 0) return;
    throw new UserError('FOLDER_NOT_REMOVED', `${folder} cannot be removed whole`, {
      why: stderr?.trim().split('\n')[0] || 'files in it belong to users of guests',
      fix: `sudo rm -r ${folder}`,
      cause: error,
    });
  }
}
