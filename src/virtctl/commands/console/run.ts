/** Connects the terminal to a guest's serial console. */
import { showConsole } from '../../console/console.ts';
import { untilRunning } from '../../console/until-running.ts';
import type { ClusterDeps, ConnectionFlags } from '../../deps.ts';
import { vmName } from '../../vm-target.ts';

export async function run(deps: ClusterDeps, flags: ConnectionFlags & { timeout: number }, ...words: string[]): Promise<void> {
  const name = vmName('console', words);
  await untilRunning(deps, name, flags.timeout);
  await showConsole(deps, name);
}
