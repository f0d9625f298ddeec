/** Logs in to a guest with the ssh of this machine. */
import type { ClusterDeps } from '../../deps.ts';
import { sshArguments } from '../../ssh/arguments.ts';
import { becomeProgram, type SshFlags, sshOptions } from '../../ssh/become-program.ts';

export function run(deps: ClusterDeps, flags: SshFlags & { readonly command?: string }, target: string): Promise<number> {
  return becomeProgram(deps, 'ssh', sshArguments(target, sshOptions(deps, flags), flags.command === undefined ? [] : [flags.command]));
}
