/** What `decide` and `status` look at: one VMI on this node, its Pod, and what its QEMU says. */
import type { Pod } from '../../api/core/pod.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { isDeleting } from '../../api/meta.ts';
import type { AgentFacts } from '../agent/agent-session.ts';
import type { ProbeFacts } from '../probes/guest-probes.ts';
import type { Domain } from './domain.ts';

export type ObservedVmi = {
  readonly vmi: VirtualMachineInstance;
  /** The newest Pod on this node that the VMI controls. */
  readonly pod?: Pod | undefined;
  readonly domain: Domain;
  /** What the agent in the guest says. */
  readonly agent?: AgentFacts | undefined;
  /** What the probes inside the guest say. */
  readonly probes?: ProbeFacts | undefined;
  /** When this process first saw that the guest is to stop. */
  readonly stoppingSince?: number | undefined;
  readonly now: number;
};

/** The guest is to stop: somebody deleted the VMI, or its Pod (a drain, an eviction). */
export function mustStop({ vmi, pod }: Pick<ObservedVmi, 'vmi' | 'pod'>): boolean {
  return isDeleting(vmi) || (pod !== undefined && isDeleting(pod));
}
