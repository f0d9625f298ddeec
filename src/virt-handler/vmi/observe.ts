/** Gathers what `decide` looks at: the VMI, its Pod from the caches, its guest from the QMP sessions that are open. Opens none. */
import { PODS, type Pod } from '../../api/core/pod.ts';
import { isFinal, type VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { isControlledBy } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Client } from '../../client/client.ts';
import type { NodeCaches } from '../node-caches.ts';
import { unknownDomain } from './domain.ts';
import type { Domains } from './domains.ts';
import { isFollowed, type ObservedDomain } from './observed.ts';

export type ObserveDomainOptions = Pick<NodeCaches, 'vmis' | 'pods'> & {
  readonly client: Client;
  readonly clock: Clock;
  readonly nodeName: string;
  readonly domains: Domains;
};

/** One VMI as it is now; undefined when it is not of this node and nobody listens to its guest. */
export async function observeDomain(key: string, options: ObserveDomainOptions): Promise<ObservedDomain | undefined> {
  const { clock, vmis, domains } = options;
  const followed = domains.followed(key);
  const vmi = vmis.get(key);
  if (!vmi) return followed && { vmi: followed.vmi, hasLeft: true, followed, domain: unknownDomain, now: clock.now() };
  const pod = newestOf(options.pods.byIndex('owner', vmi.metadata.uid ?? ''), vmi, options) ?? (await podNotInCache(vmi, options));
  const isHeard = isFollowed({ vmi, pod, followed });
  return {
    vmi,
    pod,
    followed,
    domain: (isHeard && domains.domainOf(key)) || unknownDomain,
    agent: isHeard ? domains.agentOf(key)?.facts : undefined,
    probes: isHeard ? domains.probesOf(key) : undefined,
    stoppingSince: isHeard ? domains.stoppingSince(key) : undefined,
    now: clock.now(),
  };
}

/** The two caches are not in step: before a guest is given up because it has no Pod, the server is asked. */
async function podNotInCache(vmi: VirtualMachineInstance, options: ObserveDomainOptions): Promise<Pod | undefined> {
  const { phase } = vmi.status ?? {};
  if (isFinal(vmi) || (phase !== 'Scheduled' && phase !== 'Running')) return undefined;
  const { items } = await options.client.list(PODS, {
    namespace: vmi.metadata.namespace,
    fieldSelector: `spec.nodeName=${options.nodeName}`,
  });
  return newestOf(items, vmi, options);
}

/** Labels can be set by anybody who may make Pods; the owner reference, the namespace and the node have to fit too. */
function newestOf(pods: readonly Pod[], vmi: VirtualMachineInstance, { nodeName }: ObserveDomainOptions): Pod | undefined {
  return pods
    .filter((pod) => isControlledBy(pod, vmi) && pod.metadata.namespace === vmi.metadata.namespace && pod.spec.nodeName === nodeName)
    .sort((a, b) => ageOf(b) - ageOf(a))[0];
}

function ageOf(pod: Pod): number {
  return Date.parse(pod.metadata.creationTimestamp ?? '') || 0;
}
