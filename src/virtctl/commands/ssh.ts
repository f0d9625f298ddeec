/** `virtctl ssh` and `virtctl scp`: the OpenSSH programs of this machine, over a connection of ours. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { UserError } from '../../base/errors.ts';
import { findProgram } from '../../base/node/find-program.ts';
import { type ConnectionFlags, connect } from '../connect.ts';
import type { Context } from '../context.ts';
import { type SshOptions, scpArguments, sshArguments } from '../ssh/arguments.ts';

type SshFlags = ConnectionFlags & {
  readonly port: number;
  readonly username?: string;
  readonly identityFile?: string;
  readonly knownHosts?: string;
  readonly localSshOpts?: readonly string[];
};

export async function ssh(this: Context, flags: SshFlags & { readonly command?: string }, target: string): Promise<void> {
  await become(this, 'ssh', sshArguments(target, optionsFrom(this, flags), flags.command === undefined ? [] : [flags.command]));
}

export async function scp(
  this: Context,
  flags: SshFlags & { readonly recursive: boolean; readonly preserve: boolean },
  from: string,
  to: string,
): Promise<void> {
  const { recursive, preserve } = flags;
  await become(this, 'scp', scpArguments(from, to, { ...optionsFrom(this, flags), recursive, preserve }));
}

function optionsFrom(context: Context, flags: SshFlags): SshOptions {
  const { kubeconfig, context: contextName, verbosity, port, username, identityFile, knownHosts, localSshOpts } = flags;
  const { namespace } = connect(context, flags);
  return {
    program: context.program,
    kubeconfig,
    context: contextName,
    verbosity,
    namespace,
    port,
    username,
    identityFile,
    knownHosts,
    localSshOpts,
  };
}

/** Leaves as the program does. Keys that end programs are meant for it, not for us. */
async function become({ process }: Context, program: string, args: readonly string[]): Promise<void> {
  const path = findProgram(program, process.env['PATH']);
  if (!path)
    throw new UserError('SSH_MISSING', `there is no ${program} on this machine`, {
      why: 'it carries the connection; virtctl only brings it to the guest',
      fix: 'apt-get install openssh-client, or use virtctl exec or virtctl console',
      exitCode: 7,
    });
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) process.on(signal, () => {});
  const code = await new Promise<number>((resolve, reject) => {
    const child = spawn(path, args, { stdio: 'inherit' });
    for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
    child.once('error', reject);
    child.once('exit', (exitCode, signal) => resolve(exitCode ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
  process.exitCode = code;
}
