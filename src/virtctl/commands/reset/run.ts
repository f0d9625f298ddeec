/** Resets a guest at once. */
import type { ClusterDeps } from '../../deps.ts';
import { callInstance, type LifecycleFlags } from '../../lifecycle/call-subresource.ts';

export function run(deps: ClusterDeps, flags: LifecycleFlags, ...words: string[]): Promise<void> {
  return callInstance(deps, { verb: 'reset', flags, words });
}
