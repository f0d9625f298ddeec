/** Runs the VMIs of one node: the caches, the sessions and the loop over them. */
import { PODS } from '../../api/core/pod.ts';
import { VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { LABEL_NODE_NAME } from '../../api/kubevirt/names.ts';
import { controllerOf, type KubeObject, keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { startCache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import { runController } from '../../reconcile/controller.ts';
import { actOnDomain } from './act.ts';
import { type DomainAction, decideDomain } from './decide.ts';
import type { Domains } from './domains.ts';
import { observeDomain, podsByOwner } from './observe.ts';
import type { ObservedDomain } from './observed.ts';

export type DomainControllerOptions = {
  readonly client: Client;
  readonly nodeName: string;
  readonly domains: Domains;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
};

/** Runs until the signal aborts. */
export async function runDomainController({ nodeName, domains, ...common }: DomainControllerOptions): Promise<void> {
  const vmis = startCache({ ...common, resource: VMIS, labelSelector: `${LABEL_NODE_NAME}=${nodeName}` });
  const pods = startCache({ ...common, resource: PODS, fieldSelector: `spec.nodeName=${nodeName}`, indexes: { owner: podsByOwner } });
  const sources = { ...common, nodeName, vmis, pods, domains };
  await runController<ObservedDomain, DomainAction>({
    ...common,
    name: 'virt-handler',
    triggers: [{ cache: vmis, keysOf: ownKey }, { cache: pods, keysOf: keyOfOwner }, { source: domains.changes }],
    observe: (key) => observeDomain(key, sources),
    decide: decideDomain,
    act: (action, observed) => actOnDomain(action, observed, domains),
    subject: ({ vmi }) => vmi,
  });
}

function ownKey({ metadata }: KubeObject): readonly string[] {
  return [keyOf(metadata)];
}

function keyOfOwner(pod: KubeObject): readonly string[] {
  const owner = controllerOf(pod);
  if (owner?.kind !== 'VirtualMachineInstance') return [];
  return [keyOf({ namespace: pod.metadata.namespace, name: owner.name })];
}
