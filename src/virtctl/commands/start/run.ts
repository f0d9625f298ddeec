/** Starts a machine. */
import type { ClusterDeps } from '../../deps.ts';
import { callMachine } from '../../lifecycle/call-machine.ts';
import type { LifecycleFlags } from '../../lifecycle/put-subresource.ts';

export function run(deps: ClusterDeps, flags: LifecycleFlags & { paused: boolean }, ...words: string[]): Promise<void> {
  return callMachine(deps, { verb: 'start', flags, words, body: flags.paused ? { paused: true } : {} });
}
