/** The OpenSSH programs of this machine, over a connection of ours. */
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { UserError } from '../../base/errors.ts';
import { findProgram } from '../../base/node/find-program.ts';
import type { ClusterDeps, ConnectionFlags } from '../deps.ts';
import { findRunningGuest } from '../find-guest.ts';
import { isOwnEmbedded } from '../images/own-cluster.ts';
import type { GuestAddress, SshOptions } from './arguments.ts';
import { loginUserOf } from './login-user.ts';
import { readSshKey } from './ssh-key.ts';

export type SshFlags = ConnectionFlags & {
  readonly port: number;
  readonly username?: string;
  readonly identityFile?: string;
  readonly knownHosts?: string;
  readonly localSshOpts?: readonly string[];
};

/**
 * What the flags mean for the program; throws when the guest does not run. A user that is named nowhere is the one of the machine's annotation; without
 * a key of the user's choice ours is tried, if there is one, before those of the user. Who names a file of known hosts wants keys of hosts checked.
 */
export async function sshOptions(deps: ClusterDeps, flags: SshFlags, { user, target }: GuestAddress): Promise<SshOptions> {
  const { program, namespace, home } = deps;
  const { kubeconfig, context, verbosity, port, knownHosts, localSshOpts } = flags;
  const found = await findRunningGuest(deps, target);
  const username = flags.username ?? (user === undefined ? loginUserOf(found) : undefined);
  const trustsApi = knownHosts === undefined && (await isOwnEmbedded(deps, deps));
  const ours = flags.identityFile === undefined ? await readSshKey(home) : undefined;
  const identityFile = ours?.privateKeyPath ?? flags.identityFile;
  const triesOwnKeys = ours !== undefined;
  const connection = { program, kubeconfig, context, verbosity, namespace, port };
  return { ...connection, username, identityFile, triesOwnKeys, knownHosts, localSshOpts, trustsApi };
}

/** Its exit code: we end as the program does. Keys that end programs are meant for it, not for us. */
export async function becomeProgram({ env, onSignal }: ClusterDeps, program: string, args: readonly string[]): Promise<number> {
  const path = findProgram(program, env['PATH']);
  if (!path)
    throw new UserError('SSH_MISSING', `there is no ${program} on this machine`, {
      why: 'it carries the connection; virtctl only brings it to the guest',
      fix: 'apt-get install openssh-client, or use virtctl exec or virtctl console',
      exitCode: 7,
    });
  let child: ChildProcess | undefined;
  const listeners = [
    ...(['SIGINT', 'SIGQUIT'] as const).map((signal) => onSignal(signal, () => {})),
    ...(['SIGTERM', 'SIGHUP'] as const).map((signal) => onSignal(signal, () => child?.kill(signal))),
  ];
  try {
    return await new Promise<number>((resolve, reject) => {
      child = spawn(path, args, { stdio: 'inherit' });
      child.once('error', reject);
      child.once('exit', (exitCode, signal) => resolve(exitCode ?? 128 + (signal ? constants.signals[signal] : 0)));
    });
  } finally {
    for (const stopListening of listeners) stopListening();
  }
}
