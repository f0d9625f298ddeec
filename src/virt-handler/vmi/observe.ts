/** Gathers what `decide` looks at: the VMI, its Pod from the caches, its guest from the QMP sessions that are open. Opens none. */
import { PODS, type Pod } from '../../api/core/pod.ts';
import { isFinal, type VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { isCurrentLauncherOf, isTargetOf } from '../../api/launcher/pod-name.ts';
import { keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Client } from '../../client/client.ts';
import { findHandler } from '../../client/find-handler.ts';
import type { AllNodeCaches } from '../node-caches.ts';
import { unknownDomain } from './domain.ts';
import type { Domains } from './domains.ts';
import { isFollowed, type ObservedDomain } from './observed.ts';

export type ObserveDomainOptions = Pick<AllNodeCaches, 'vmis' | 'incoming' | 'pods'> & {
  readonly client: Client;
  readonly clock: Clock;
  readonly nodeName: string;
  readonly domains: Domains;
};

/** One VMI as it is now; undefined when it is not of this node and nobody listens to its guest. */
export async function observeDomain(key: string, options: ObserveDomainOptions): Promise<ObservedDomain | undefined> {
  const { clock, vmis, incoming, domains } = options;
  const followed = domains.followed(key);
  const vmi = vmis.get(key);
  const coming = vmi ? undefined : incoming.get(key);
  if (coming) return observeComing(coming, options);
  // Of a guest that was moved away, the QEMU that it left is still to be ended.
  const left = () => domains.domainOf(key) ?? unknownDomain;
  if (!vmi) return followed && { vmi: followed.vmi, hasLeft: true, followed, domain: left(), now: clock.now() };
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
    links: isHeard ? domains.linksOf(key, vmi) : undefined,
    now: clock.now(),
  };
}

/** One that another node sends: its QEMU here waits, and is nobody's guest yet. */
async function observeComing(vmi: VirtualMachineInstance, options: ObserveDomainOptions): Promise<ObservedDomain> {
  const { client, clock, pods, domains, nodeName } = options;
  const key = keyOf(vmi.metadata);
  const { migrationUid = '', targetPod } = vmi.status?.migrationState ?? {};
  const pod = pods
    .byIndex('owner', vmi.metadata.uid ?? '')
    .find((each) => isTargetOf(each, vmi, migrationUid) && each.metadata.name === targetPod);
  const followed = domains.followed(key);
  const isHeard = isFollowed({ vmi, pod, followed });
  const domain = (isHeard && domains.domainOf(key)) || unknownDomain;
  const isOpen = domain.commands['receive']?.is === 'done' && vmi.status?.migrationState?.targetNodeAddress === undefined;
  const door = isOpen ? await findHandler(client, nodeName) : undefined;
  return { vmi, isComing: true, pod, followed, domain, door, now: clock.now() };
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
  return pods.find((pod) => isCurrentLauncherOf(pod, vmi) && pod.spec.nodeName === nodeName);
}
