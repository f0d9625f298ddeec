/** Logs in to a guest with the ssh of this machine. */
import type { ClusterDeps } from '../../deps.ts';
import { parseGuest, sshArguments } from '../../ssh/arguments.ts';
import { becomeProgram, type SshFlags, sshOptions } from '../../ssh/become-program.ts';

export async function run(deps: ClusterDeps, flags: SshFlags & { readonly command?: string }, target: string): Promise<number> {
  const command = flags.command === undefined ? [] : [flags.command];
  return becomeProgram(deps, 'ssh', sshArguments(target, await sshOptions(deps, flags, parseGuest(target)), command));
}
