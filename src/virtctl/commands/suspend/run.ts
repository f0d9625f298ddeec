/** Saves the memory of a machine and ends its instance. */
import type { ClusterDeps } from '../../deps.ts';
import { callVm, type LifecycleFlags } from '../../lifecycle/call-subresource.ts';

export function run(deps: ClusterDeps, flags: LifecycleFlags, ...words: string[]): Promise<void> {
  return callVm(deps, { verb: 'suspend', flags, words, body: {} });
}
