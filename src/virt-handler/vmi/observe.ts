/** Gathers what `decide` looks at: the VMI, its Pod from the caches, its guest from the QMP sessions that are open. Opens none. */
import { PODS, type Pod } from '../../api/core/pod.ts';
import { isMoving } from '../../api/kubevirt/kinds/migration.ts';
import { isFinal, type VirtualMachineInstance, VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { currentLauncherNameOf, isCurrentLauncherOf, isLauncherOf, isTargetOf } from '../../api/launcher/pod-name.ts';
import { keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Client } from '../../client/client.ts';
import { findHandler } from '../../client/find-handler.ts';
import type { AllNodeCaches } from '../node-caches.ts';
import { unknownDomain } from './domain.ts';
import type { Domains } from './domains.ts';
import { type Followed, isFollowed, type ObservedDomain } from './observed.ts';

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
  if (!vmi) return followed && observeLeft(key, followed, options);
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

/** Of a guest that was moved away, the QEMU that it left is still to be ended. One that does not look as if it had been sent may be: the server is asked. */
async function observeLeft(key: string, followed: Followed, options: ObserveDomainOptions): Promise<ObservedDomain> {
  const { client, clock, domains, pods, nodeName } = options;
  const domain = domains.domainOf(key) ?? unknownDomain;
  const isThere = domain.isConnected && !domain.isGone;
  const hasMoved = async () => {
    const { namespace, name, uid = '' } = followed.vmi.metadata;
    const pod = pods.byIndex('owner', uid).find(({ metadata }) => metadata.uid === followed.podUid);
    const vmi = pod && (await client.get(VMIS, { namespace, name }));
    return vmi?.metadata.uid === uid && pod !== undefined && hasLeftFor(vmi, { pod, nodeName });
  };
  return { vmi: followed.vmi, hasLeft: true, hasMoved: isThere && (await hasMoved()), followed, domain, now: clock.now() };
}

/** The guest is in another Pod on another node: whatever is in this one is nobody's any more. A store that does not know the instance says nothing. */
export function hasLeftFor(vmi: VirtualMachineInstance, { pod, nodeName }: { readonly pod: Pod; readonly nodeName: string }): boolean {
  const { migrationState, nodeName: itsNode } = vmi.status ?? {};
  const isElsewhere = itsNode !== undefined && itsNode !== nodeName && currentLauncherNameOf(vmi) !== pod.metadata.name;
  return isElsewhere && migrationState?.completed === true && isLauncherOf(pod, vmi);
}

/** One that another node sends: its QEMU here waits, and is nobody's guest yet. */
async function observeComing(vmi: VirtualMachineInstance, options: ObserveDomainOptions): Promise<ObservedDomain> {
  const { client, clock, pods, domains, nodeName } = options;
  const key = keyOf(vmi.metadata);
  const { migrationState } = vmi.status ?? {};
  const { migrationUid = '', targetPod } = migrationState ?? {};
  const pod = pods
    .byIndex('owner', vmi.metadata.uid ?? '')
    .find((each) => isTargetOf(each, vmi, migrationUid) && each.metadata.name === targetPod);
  const { namespace } = vmi.metadata;
  const isAsked = !pod && isMoving(migrationState) && targetPod !== undefined; // the cache may be behind
  const isPodGone = isAsked && (await client.get(PODS, { namespace, name: targetPod })) === undefined;
  const followed = domains.followed(key);
  const isHeard = isFollowed({ vmi, pod, followed });
  const domain = (isHeard && domains.domainOf(key)) || unknownDomain;
  const isOpen = domain.commands['receive']?.is === 'done' && migrationState?.targetNodeAddress === undefined;
  const door = isOpen ? await findHandler(client, nodeName) : undefined;
  return { vmi, isComing: true, isPodGone, pod, followed, domain, door, now: clock.now() };
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
