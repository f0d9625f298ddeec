/**
 * Who logs in to a new machine, and what cloud-init is told for that.
 *
 *   --cloud-init FILE            what is in the file, and nothing of ours
 *   the catalogue: no cloud-init nothing; --user and --ssh-key are refused
 *   the catalogue: cloud-init    its user, or --user, gets the key
 *   an address or a file         taken to obey cloud-init, which is said; the user is virt, or --user
 *   another image                nothing, unless --user or --ssh-key ask for it
 */
import { existsSync, readFileSync } from 'node:fs';
import { UserError } from '../../../base/errors.ts';
import { loginData, UNKNOWN_USER } from '../../../sdk/manifest/login-data.ts';
import { parsePublicKey } from '../../credentials/keys.ts';
import type { ResolvedImage } from '../../images/resolve-image.ts';
import { readInput } from '../../read-input.ts';
import { ensureSshKey } from '../../ssh/ssh-key.ts';
import type { SharedFolder } from './mounts.ts';

export type LoginFlags = { readonly user?: string; readonly sshKey?: string; readonly cloudInit?: string };
type LoginOptions = { readonly home: string; readonly shared?: readonly SharedFolder[] };
export type LoginPlan = {
  readonly user?: string | undefined;
  readonly userData?: Uint8Array | undefined;
  /** The key is the one that virtctl shell and virtctl ssh use. */
  readonly hasOurKey: boolean;
  /** Something that is only taken to be so. */
  readonly note?: string;
};

const USER = /^[a-z_][a-z0-9_-]{0,31}$/;

export async function planLogin(image: ResolvedImage, flags: LoginFlags, { home, shared = [] }: LoginOptions): Promise<LoginPlan> {
  const { entry, source } = image;
  if (flags.user !== undefined && !USER.test(flags.user))
    throw usage(`--user ${flags.user} cannot be the name of a user`, {
      why: 'names have lower case letters, digits, - and _, and begin with a letter',
      fix: '--user admin, for instance',
    });
  const isAsked = flags.user !== undefined || flags.sshKey !== undefined;
  if (flags.cloudInit !== undefined) {
    if (flags.sshKey !== undefined)
      throw usage('--ssh-key cannot be combined with --cloud-init', {
        why: 'the file says all that cloud-init is told',
        fix: 'leave --ssh-key out, and write the key into the file, as ssh_authorized_keys',
      });
    return { user: flags.user ?? entry?.user, userData: readInput(flags.cloudInit), hasOurKey: false };
  }
  if (entry && !entry.cloudInit) {
    if (isAsked)
      throw usage('this image takes neither a user nor a key', {
        why: 'it does not obey cloud-init',
        fix: `leave --user and --ssh-key out${entry.login ? `, and log in as ${entry.login}` : ''}`,
      });
    return { user: entry.user, hasOurKey: false };
  }
  if (!entry && source.is === 'image' && !isAsked) return { hasOurKey: false };
  const user = flags.user ?? entry?.user ?? (entry ? 'root' : UNKNOWN_USER);
  const publicKey = flags.sshKey === undefined ? (await ensureSshKey(home)).publicKey : keyIn(flags.sshKey);
  const note = entry
    ? undefined
    : `not in the catalogue: assuming that it supports cloud-init, with the user ${user}; --user names another`;
  const userData = Buffer.from(loginData({ user, publicKey, mounts: shared }));
  return { user, userData, hasOurKey: flags.sshKey === undefined, ...(note !== undefined && { note }) };
}

/** The file itself, or the public half beside a private key. */
function keyIn(path: string): string {
  const beside = `${path}.pub`;
  return parsePublicKey(readFileSync(!path.endsWith('.pub') && existsSync(beside) ? beside : path, 'utf8'));
}

function usage(what: string, help: { readonly why: string; readonly fix: string }): UserError {
  return new UserError('USAGE', what, { ...help, exitCode: 2 });
}
