/** Gathers what `decide` looks at: the VMI, its Pod from the caches, its guest from the QMP sessions that are open. Opens none. */
import { PODS, type Pod } from '../../api/core/pod.ts';
import { isFinal, type VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { isLauncherOf } from '../../api/launcher/pod-name.ts';
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
  const pod = launcherIn(options.pods.byIndex('owner', vmi.metadata.uid ?? ''), vmi, options) ?? (await podNotInCache(vmi, options));
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
  return launcherIn(items, vmi, options);
}

/** The Pod of this instance, if this node runs it. */
function launcherIn(pods: readonly Pod[], vmi: VirtualMachineInstance, { nodeName }: ObserveDomainOptions): Pod | undefined {
  return pods.find((pod) => isLauncherOf(pod, vmi) && pod.spec.nodeName === nodeName);
}
