/** Runs the VMIs of one node: the loop over what the caches and the sessions with their guests say. */
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { MetricFamilies } from '../../base/metrics.ts';
import type { Client } from '../../client/client.ts';
import { runController } from '../../reconcile/controller.ts';
import { changesOf } from '../../reconcile/source.ts';
import { type AllNodeCaches, keyOfOwner, ownKey } from '../node-caches.ts';
import { decideDomain } from './decide.ts';
import type { DomainAction } from './domain-action.ts';
import type { Domains } from './domains.ts';
import { observeDomain } from './observe.ts';
import type { ObservedDomain } from './observed.ts';

export type DomainControllerOptions = Pick<AllNodeCaches, 'vmis' | 'incoming' | 'pods'> & {
  readonly client: Client;
  readonly nodeName: string;
  readonly domains: Domains;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where to show how much there is to do. */
  readonly metrics?: MetricFamilies | undefined;
  readonly signal: AbortSignal;
};

/** Runs until the signal aborts. */
export async function runDomainController(options: DomainControllerOptions): Promise<void> {
  const { vmis, incoming, pods, domains } = options;
  await runController<ObservedDomain, DomainAction>({
    ...options,
    name: 'virt-handler',
    triggers: [changesOf(vmis, ownKey), changesOf(incoming, ownKey), changesOf(pods, keyOfOwner), domains.changes],
    observe: (key) => observeDomain(key, options),
    decide: decideDomain,
    act: (action, observed) => domains.act(action, observed.vmi),
    subject: ({ vmi }) => vmi,
  });
}
