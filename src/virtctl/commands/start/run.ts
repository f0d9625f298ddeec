/** Starts a machine. */
import type { ClusterDeps } from '../../deps.ts';
import { callVm, type LifecycleFlags } from '../../lifecycle/call-subresource.ts';

export function run(deps: ClusterDeps, flags: LifecycleFlags & { paused: boolean; discard: boolean }, ...words: string[]): Promise<void> {
  return callVm(deps, {
    verb: 'start',
    flags,
    words,
    body: { ...(flags.paused && { paused: true }), ...(flags.discard && { discard: true }) },
  });
}
