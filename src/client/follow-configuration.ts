/** The configuration of the installation as it is now, for components that honour it: changes arrive while they run. */
import {
  type ClusterConfiguration,
  clusterConfigurationOf,
  DEFAULT_CONFIGURATION,
} from '../api/kubevirt/configuration/cluster-configuration.ts';
import { goodConfigurationOf } from '../api/kubevirt/configuration/good-configuration.ts';
import { KUBEVIRTS, type KubeVirt } from '../api/kubevirt/kinds/kubevirt.ts';
import type { Clock } from '../base/clock.ts';
import { deepEqual } from '../base/json.ts';
import type { Logger } from '../base/log.ts';
import { startCache } from './cache.ts';
import type { Client } from './client.ts';

/** How long to wait for the first answer: what is asked before that goes on with the defaults. */
const FIRST_ANSWER_MS = 5_000;

export type FollowedConfiguration = {
  /** Always something: the defaults where there is no KubeVirt object. */
  readonly current: ClusterConfiguration;
  /** Resolves when it is known, or after a while in which nobody could tell. */
  readonly known: Promise<void>;
  /** Called for every change. */
  onChange(listener: (now: ClusterConfiguration) => void): void;
};

/** Follows the KubeVirt object until the signal aborts. */
export function followConfiguration(options: {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}): FollowedConfiguration {
  const { clock, log, signal } = options;
  const cache = startCache({ ...options, resource: KUBEVIRTS });
  const listeners: ((now: ClusterConfiguration) => void)[] = [];
  let current = DEFAULT_CONFIGURATION;
  cache.subscribe(() => {
    const kubeVirt = oldestOf(cache.list());
    const good = kubeVirt ? goodConfigurationOf(kubeVirt) : {};
    if (!good) return log.warn('the configuration of the KubeVirt object contradicts itself; the last good one stays in force');
    const next = clusterConfigurationOf(good);
    if (deepEqual(next, current)) return;
    current = next;
    for (const listener of listeners) listener(current);
  });
  const known = Promise.race([cache.synced.catch(() => {}), clock.sleep(FIRST_ANSWER_MS, signal)]);
  return {
    get current() {
      return current;
    },
    known,
    onChange: (listener) => void listeners.push(listener),
  };
}

/** With two of them, the one that was there first holds. */
function oldestOf(all: readonly KubeVirt[]): KubeVirt | undefined {
  const age = ({ metadata: { creationTimestamp = '', uid = '' } }: KubeVirt) => `${creationTimestamp} ${uid}`;
  return all.toSorted((a, b) => (age(a) < age(b) ? -1 : 1))[0];
}
