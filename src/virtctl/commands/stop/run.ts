/** Stops a machine: asks the guest to shut down, or gives it a time. */
import type { ClusterDeps } from '../../deps.ts';
import { callVm } from '../../lifecycle/call-subresource.ts';
import { type ForceFlags, requireBoth } from '../../lifecycle/force-flags.ts';

export async function run(deps: ClusterDeps, flags: ForceFlags, ...words: string[]): Promise<void> {
  requireBoth(flags);
  await callVm(deps, { verb: 'stop', flags, words, body: flags.force ? { gracePeriod: flags.gracePeriod } : {} });
}
