/** Lets a suspended machine go on. */
import type { ClusterDeps } from '../../deps.ts';
import { callVm, type LifecycleFlags } from '../../lifecycle/call-subresource.ts';

export function run(deps: ClusterDeps, flags: LifecycleFlags, ...words: string[]): Promise<void> {
  return callVm(deps, { verb: 'resume', flags, words, body: {} });
}
