/** The presets of every namespace as they are now, for who makes instances complete. */
import { type VirtualMachineInstancePreset, VMI_PRESETS } from '../api/kubevirt/kinds/vmi-preset.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { startCache } from './cache.ts';
import type { Client } from './client.ts';

/** How long to wait for the first answer: a cluster whose definitions are older has no presets. */
const FIRST_ANSWER_MS = 5_000;
const BY_NAMESPACE = 'namespace';

export type FollowedPresets = {
  /** Those of a namespace, when they are known or nobody could tell for a while. */
  in(namespace: string): Promise<readonly VirtualMachineInstancePreset[]>;
};

/** Follows them until the signal aborts. */
export function followPresets(options: {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}): FollowedPresets {
  const indexes = { [BY_NAMESPACE]: ({ metadata }: VirtualMachineInstancePreset) => [metadata.namespace ?? ''] };
  const cache = startCache({ ...options, resource: VMI_PRESETS, indexes });
  const known = Promise.race([cache.synced.catch(() => {}), options.clock.sleep(FIRST_ANSWER_MS, options.signal)]);
  return { in: async (namespace) => known.then(() => cache.byIndex(BY_NAMESPACE, namespace)) };
}
