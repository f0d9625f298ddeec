/** The OpenSSH programs of this machine, over a connection of ours. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { UserError } from '../../base/errors.ts';
import { findProgram } from '../../base/node/find-program.ts';
import type { ClusterDeps, ConnectionFlags } from '../deps.ts';
import type { SshOptions } from './arguments.ts';

export type SshFlags = ConnectionFlags & {
  readonly port: number;
  readonly username?: string;
  readonly identityFile?: string;
  readonly knownHosts?: string;
  readonly localSshOpts?: readonly string[];
};

/** What the flags mean for the program. */
export function sshOptions({ program, namespace }: ClusterDeps, flags: SshFlags): SshOptions {
  const { kubeconfig, context, verbosity, port, username, identityFile, knownHosts, localSshOpts } = flags;
  return { program, kubeconfig, context, verbosity, namespace, port, username, identityFile, knownHosts, localSshOpts };
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
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) onSignal(signal, () => {});
  return new Promise<number>((resolve, reject) => {
    const child = spawn(path, args, { stdio: 'inherit' });
    for (const signal of ['SIGTERM', 'SIGHUP'] as const) onSignal(signal, () => child.kill(signal));
    child.once('error', reject);
    child.once('exit', (exitCode, signal) => resolve(exitCode ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}
