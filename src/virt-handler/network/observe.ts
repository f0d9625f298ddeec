/** Gathers what decides on the ports of a guest: the guest, its Pod, the Services that may select it, and what is open already. */
import type { Pod } from '../../api/core/pod.ts';
import type { Service } from '../../api/core/service.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { isCurrentLauncherOf } from '../../api/launcher/pod-name.ts';
import { isDeleting } from '../../api/meta.ts';
import { keyOfOwner, labelIn, type NodeCaches } from '../node-caches.ts';
import { selects } from './decide-forwards.ts';
import type { Forwards, OpenForward } from './forwards.ts';
import type { PortLooks } from './port-looks.ts';
import type { PortVerdicts } from './port-verdicts.ts';

/** A guest that runs, in a Pod that has an address. */
export type GuestPod = { readonly vmi: VirtualMachineInstance; readonly pod: Pod; readonly address: string };
export type ObservedNetwork = GuestPod & {
  readonly services: readonly Service[];
  /** What is open at the address, by QEMU itself; undefined when it cannot be asked now. */
  readonly open?: readonly OpenForward[] | undefined;
  /** At which ports the guest takes connections; undefined before anybody looked. */
  readonly verdicts?: PortVerdicts | undefined;
};
export type NetworkSources = NodeCaches & {
  readonly forwards: Pick<Forwards, 'list'>;
  readonly looks: Pick<PortLooks, 'verdictsOf'>;
};

/** Undefined while there is no guest that could have ports. */
export async function observeNetwork(key: string, sources: NetworkSources): Promise<ObservedNetwork | undefined> {
  const found = findGuestPod(key, sources);
  if (!found) return undefined;
  const { address, pod } = found;
  const { namespace, labels = {}, uid } = pod.metadata;
  const open = await sources.forwards.list({ key, address }).catch(() => undefined);
  const services = Object.entries(labels).flatMap((label) => sources.services.byIndex('selects', labelIn(namespace, label)));
  return { ...found, services, open, verdicts: sources.looks.verdictsOf(key, uid) };
}

/** The guest of this name and the Pod that it runs in. */
export function findGuestPod(key: string, { vmis, pods }: Pick<NodeCaches, 'vmis' | 'pods'>): GuestPod | undefined {
  const vmi = vmis.get(key);
  if (vmi?.status?.phase !== 'Running') return undefined;
  const mine = pods.byIndex('owner', vmi.metadata.uid ?? '');
  const pod = mine.find((each) => isCurrentLauncherOf(each, vmi) && each.status?.phase === 'Running' && !isDeleting(each));
  const address = pod?.status?.podIP;
  return pod && address ? { vmi, pod, address } : undefined;
}

/** The keys of the guests whose Pods a Service selects. */
export function guestsBehind(service: Service, { pods }: Pick<NodeCaches, 'pods'>): readonly string[] {
  const [label] = Object.entries(service.spec.selector ?? {});
  if (!label) return [];
  const candidates = pods.byIndex('label', labelIn(service.metadata.namespace, label));
  return candidates.filter((pod) => selects(service, pod)).flatMap(keyOfOwner);
}
