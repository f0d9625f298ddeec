/** Logs in to a guest with the ssh of this machine. */
import { UserError } from '../../../base/errors.ts';
import type { ClusterDeps } from '../../deps.ts';
import { parseGuest, sshArguments } from '../../ssh/arguments.ts';
import { becomeProgram, type SshFlags, sshOptions } from '../../ssh/become-program.ts';

export async function run(deps: ClusterDeps, flags: SshFlags & { readonly command?: string }, ...words: string[]): Promise<number> {
  const [target = '', ...rest] = words;
  if (flags.command !== undefined && rest.length > 0)
    throw new UserError('USAGE', 'there are two commands', {
      why: `-c says ${flags.command}, and behind the machine stands ${rest.join(' ')}`,
      fix: `virtctl ssh ${target} -- ${rest.join(' ')}`,
      exitCode: 2,
    });
  // What looks like an option is the program's, too.
  const command = flags.command === undefined ? (rest.length > 0 ? ['--', ...rest] : []) : [flags.command];
  return becomeProgram(deps, 'ssh', sshArguments(target, await sshOptions(deps, flags, parseGuest(target)), command));
}
