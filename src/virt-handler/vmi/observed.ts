/** What `decide` and `status` look at: one VMI on this node, its Pod, and what its QEMU says. */
import type { Pod } from '../../api/core/pod.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { isDeleting } from '../../api/meta.ts';
import type { HandlerAddress } from '../../client/find-handler.ts';
import type { AgentFacts } from '../agent/agent-session.ts';
import type { DiskLink } from '../hotplug/disk-link.ts';
import type { ProbeFacts } from '../probes/guest-probes.ts';
import type { Domain } from './domain.ts';

/** The guest whose sessions are open. */
export type Followed = {
  /** As it was when they were opened. */
  readonly vmi: VirtualMachineInstance;
  /** The launcher Pod; part of the path of its sockets. */
  readonly podUid: string;
};

/** How far the socket of a hotplugged volume is, and why the last try to put it into place failed. */
export type SeenLink = { readonly is: DiskLink; readonly failure?: string };

export type ObservedDomain = {
  /** As it was last known when it has left. */
  readonly vmi: VirtualMachineInstance;
  /** The VMI is gone, or no longer of this node. */
  readonly hasLeft?: boolean;
  /** It has left this Pod for another one, as the server has said. */
  readonly hasMoved?: boolean;
  /** The VMI is on its way here from another node. */
  readonly isComing?: boolean;
  /** The Pod that it comes to is gone, as the server has said. */
  readonly isPodGone?: boolean;
  /** Where other nodes reach the virt-handler of this one; looked for when a guest can be taken. */
  readonly door?: HandlerAddress | undefined;
  /** Whose sessions are open under the name of this VMI. */
  readonly followed?: Followed | undefined;
  /** The newest Pod on this node that the VMI controls. */
  readonly pod?: Pod | undefined;
  /** What the sessions say; nothing is known without them. */
  readonly domain: Domain;
  /** What the agent in the guest says. */
  readonly agent?: AgentFacts | undefined;
  /** What the probes inside the guest say. */
  readonly probes?: ProbeFacts | undefined;
  /** When this process first saw that the guest is to stop. */
  readonly stoppingSince?: number | undefined;
  /** How far the sockets of hotplugged volumes are in the folder of QEMU, by volume. */
  readonly links?: Readonly<Record<string, SeenLink>> | undefined;
  readonly now: number;
};

/** The guest is to stop: somebody deleted the VMI, or its Pod (a drain, an eviction). */
export function mustStop({ vmi, pod }: Pick<ObservedDomain, 'vmi' | 'pod'>): boolean {
  return isDeleting(vmi) || (pod !== undefined && isDeleting(pod));
}

/** The open sessions are those of this very guest; one whose Pod object was removed by force is still the same. */
export function isFollowed({ vmi, pod, followed }: Pick<ObservedDomain, 'vmi' | 'pod' | 'followed'>): boolean {
  return followed?.vmi.metadata.uid === vmi.metadata.uid && (pod === undefined || followed?.podUid === pod.metadata.uid);
}
