/** Asks a guest to reboot itself. */
import type { ClusterDeps } from '../../deps.ts';
import { callInstance, type LifecycleFlags } from '../../lifecycle/call-subresource.ts';

export function run(deps: ClusterDeps, flags: LifecycleFlags, ...words: string[]): Promise<void> {
  return callInstance(deps, { verb: 'soft-reboot', flags, words });
}
