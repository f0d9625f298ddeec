/** Enters a machine, or runs one program in it, by whatever way is there first. */
import { VMIS } from '../../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { UserError } from '../../../base/errors.ts';
import type { ClusterDeps } from '../../deps.ts';
import { onlyRunning, parseShellWords } from '../../shell/choose-machine.ts';
import { type EnterOptions, enterMachine } from '../../shell/enter-machine.ts';

export async function run(deps: ClusterDeps, flags: EnterOptions['flags'], ...words: string[]): Promise<number> {
  const { command, name } = parseShellWords(words);
  if (!(flags.timeout >= 0)) throw usage(`--timeout ${flags.timeout} is not a number of minutes`);
  if (flags.user !== undefined && !/^[^-\s][^\s]*$/.test(flags.user)) throw usage(`--user ${flags.user} is no name of a user`);
  const { client, namespace } = deps;
  const machine = name ?? onlyRunning((await client.list(VMIS, { namespace })).items, namespace);
  return enterMachine(deps, { name: machine, command, flags });
}

function usage(what: string): UserError {
  return new UserError('USAGE', what, { exitCode: 2 });
}
