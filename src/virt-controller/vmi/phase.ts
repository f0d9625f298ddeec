/**
 * The next phase of an instance, as far as virt-controller has a say. First match wins.
 *
 *   from                  to           when
 *   none                  Pending      first seen
 *   Pending               Failed       deleted before it had a Pod
 *   Pending               Scheduling   it has a Pod
 *   Scheduled, Running    Failed       the node is silent, and the Pod is gone or has ended (NodeUnresponsive)
 *   Scheduling            Failed       the Pod is gone, has ended or is being deleted
 *   Scheduling            Scheduled    the compute container runs
 *   Scheduled, Running    Failed       the Pod is gone, or has ended and virt-handler did not say how in time
 *
 * From Scheduled on virt-handler owns the phase, and these rules are for when it cannot speak. A silent node alone ends nothing: while
 * the API shows its Pod alive, the guest may be too, and a second one beside it would ruin its disk (fencing). Pure.
 */
import { isPodFinal, type Pod } from '../../api/core/pod.ts';
import type { VmiEndingReason } from '../../api/kubevirt/ending-reasons.ts';
import type { VmiPhase } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { COMPUTE_CONTAINER } from '../../api/launcher/compute.ts';
import { isCurrentLauncherOf } from '../../api/launcher/pod-name.ts';
import { isDeleting } from '../../api/meta.ts';
import type { ObservedVmi } from './observed.ts';

export type PhaseChange = { readonly phase: VmiPhase; readonly because: string; readonly reason?: VmiEndingReason };

type Seen = ObservedVmi & { readonly pod: Pod | undefined };
type Rule = { readonly from: readonly (VmiPhase | undefined)[]; readonly when: (seen: Seen) => boolean } & {
  readonly to: (seen: Seen) => PhaseChange;
};

/** How long virt-handler has to say how a guest ended after its Pod did. */
const HANDLER_PATIENCE_MS = 10_000;

const RULES: readonly Rule[] = [
  { from: [undefined], when: () => true, to: () => ({ phase: 'Pending', because: 'VMI is new' }) },
  {
    from: ['Pending'],
    when: ({ vmi, pod }) => isDeleting(vmi) && !pod,
    to: () => ({ phase: 'Failed', because: 'VMI was deleted before it had a Pod' }),
  },
  { from: ['Pending'], when: ({ pod }) => pod !== undefined, to: () => ({ phase: 'Scheduling', because: 'VMI has a Pod' }) },
  {
    from: ['Scheduled', 'Running'],
    when: ({ pod, isNodeLost }) => isNodeLost === true && (!pod || isPodFinal(pod)),
    to: ({ vmi, pod }) =>
      failed('NodeUnresponsive', `its node ${vmi.status?.nodeName} is silent and its Pod ${pod ? 'has ended' : 'is gone'}`),
  },
  { from: ['Scheduling', 'Scheduled', 'Running'], when: ({ pod }) => !pod, to: () => failed('PodGone', 'its Pod is gone') },
  {
    from: ['Scheduling'],
    when: ({ pod }) => pod !== undefined && isPodFinal(pod),
    to: (seen) => failed('PodEnded', howPodEnded(seen.pod)),
  },
  {
    from: ['Scheduling'],
    when: ({ pod }) => pod !== undefined && isDeleting(pod),
    to: () => failed('PodTerminating', 'its Pod is being deleted'),
  },
  {
    from: ['Scheduling'],
    when: ({ vmi, pod }) => !isDeleting(vmi) && pod !== undefined && isLauncherUp(pod),
    to: ({ pod }) => ({ phase: 'Scheduled', because: `its Pod runs on ${pod?.spec.nodeName}` }),
  },
  {
    from: ['Scheduled', 'Running'],
    when: (seen) => handlerPatienceMs(seen) === 0,
    to: (seen) => failed('PodEnded', howPodEnded(seen.pod)),
  },
];

/** The change that is due now, if any. */
export function nextPhaseOf(observed: ObservedVmi): PhaseChange | undefined {
  const seen = { ...observed, pod: currentPod(observed) };
  const phase = observed.vmi.status?.phase;
  return RULES.find(({ from, when }) => from.includes(phase) && when(seen))?.to(seen);
}

/** How much longer to wait for virt-handler's word on a Pod that has ended; undefined when nobody waits. */
export function handlerPatienceMs(observed: ObservedVmi): number | undefined {
  const { vmi, now } = observed;
  const pod = currentPod(observed);
  const isHandlers = vmi.status?.phase === 'Scheduled' || vmi.status?.phase === 'Running';
  if (!isHandlers || !pod || !isPodFinal(pod)) return undefined;
  const endedAt = Date.parse(computeOf(pod)?.state?.terminated?.finishedAt ?? '');
  return Number.isNaN(endedAt) ? 0 : Math.max(0, endedAt + HANDLER_PATIENCE_MS - now);
}

/** The Pod that the guest is in: the one that its last move says, else the newest on its node, or of all while it has none. */
export function currentPod({ vmi, pods }: Pick<ObservedVmi, 'vmi' | 'pods'>): Pod | undefined {
  if (vmi.status?.migrationState) return pods.find((pod) => isCurrentLauncherOf(pod, vmi));
  const nodeName = vmi.status?.nodeName;
  const candidates = nodeName ? pods.filter((pod) => pod.spec.nodeName === nodeName) : pods;
  return [...candidates].sort((a, b) => createdAt(a).localeCompare(createdAt(b))).at(-1);
}

function createdAt({ metadata }: Pod): string {
  return metadata.creationTimestamp ?? '';
}

function failed(reason: VmiEndingReason, because: string): PhaseChange {
  return { phase: 'Failed', reason, because };
}

/** Its own readiness does not count (a guest is ready much later); that of containers beside it does. */
export function isLauncherUp(pod: Pod | undefined): boolean {
  const statuses = pod?.status?.containerStatuses ?? [];
  const isComputeUp = statuses.some(({ name, state }) => name === COMPUTE_CONTAINER && state?.running);
  return isComputeUp && pod?.spec.nodeName !== undefined && statuses.every(({ name, ready }) => name === COMPUTE_CONTAINER || ready);
}

function howPodEnded(pod: Pod | undefined): string {
  const terminated = pod && computeOf(pod)?.state?.terminated;
  if (!terminated)
    return `its Pod has ended${pod?.status?.reason ? `: ${pod.status.reason}` : ''}${pod?.status?.message ? `: ${pod.status.message}` : ''}`;
  const said = terminated.message?.trim() ? `: ${terminated.message.trim()}` : '';
  return `its Pod has ended: ${terminated.reason}, exit code ${terminated.exitCode}${said}`;
}

function computeOf(pod: Pod) {
  return pod.status?.containerStatuses?.find(({ name }) => name === COMPUTE_CONTAINER);
}
