/** The status that virt-controller gives an instance. What virt-handler wrote stays as it is. Pure, like decide.ts. */
import { isPodFinal, type Pod } from '../../api/core/pod.ts';
import { type NotReadyReason, type NotSynchronizedReason, type VmiConditions, vmiCondition } from '../../api/kubevirt/condition-reasons.ts';
import { type NewCondition, withCondition, withoutCondition } from '../../api/kubevirt/conditions.ts';
import type { VirtualMachineInstance, VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { QEMU_USER } from '../../api/launcher/compute.ts';
import { type Condition, conditionOf, isDeleting } from '../../api/meta.ts';
import { timestamp } from '../../base/timestamp.ts';
import { withClaimSizes } from './claim-sizes.ts';
import { classlessClaimMessage, missingClaimMessage } from './claims.ts';
import { withHotplugged } from './hotplug-status.ts';
import { withMemoryDump } from './memory-dump.ts';
import type { ObservedVmi } from './observed.ts';
import { currentPod, type PhaseChange } from './phase.ts';
import { volumeStatusOf } from './volume-status.ts';

export const GUEST_NOT_RUNNING = { reason: 'GuestNotRunning', message: 'The guest is not running' } as const satisfies {
  reason: NotReadyReason;
  message: string;
};

const EVICTION_REQUESTED = { type: 'EvictionRequested', status: 'True', reason: 'EvictionRequested' } as const;

/** What an instance starts its life with: whoever makes one saves its controller a write. */
export function firstStatus(at: string): VmiStatus {
  return {
    phase: 'Pending',
    phaseTransitionTimestamps: [{ phase: 'Pending', phaseTransitionTimestamp: at }],
    runtimeUser: QEMU_USER,
    conditions: [{ type: 'Ready', status: 'False', ...GUEST_NOT_RUNNING, lastTransitionTime: at }],
  };
}

/** The whole status after this change of phase, if there is one. */
export function deriveVmiStatus(observed: ObservedVmi, change: PhaseChange | undefined): VmiStatus {
  const { vmi, now } = observed;
  const before = vmi.status ?? {};
  const pod = currentPod(observed);
  const phase = change?.phase ?? before.phase;
  const status: VmiStatus = {
    ...before,
    ...(change && phaseAfter(before, change, now)),
    ...(change?.phase === 'Pending' && { runtimeUser: QEMU_USER }),
    ...(change?.phase === 'Scheduled' && { nodeName: pod?.spec.nodeName, volumeStatus: volumeStatusOf(vmi.spec, observed.claims) }),
    ...(pod?.status?.qosClass && { qosClass: pod.status.qosClass }),
    activePods: activePods(observed.pods),
  };
  const isPlaced = phase === 'Scheduled' || phase === 'Running';
  const volumes = isPlaced ? withMemoryDump(observed, withHotplugged(observed, status.volumeStatus)) : status.volumeStatus;
  const volumeStatus = isPlaced ? withClaimSizes(volumes, observed.claimSizes) : volumes;
  return { ...status, ...(volumeStatus && { volumeStatus }), conditions: conditionsAfter(observed, pod, phase) };
}

/** Each phase is stamped once, when it is first reached. */
function phaseAfter(before: VmiStatus, { phase, reason, because }: PhaseChange, now: number): Partial<VmiStatus> {
  const stamps = before.phaseTransitionTimestamps ?? [];
  const isNew = !stamps.some((stamp) => stamp.phase === phase);
  const stamped = isNew ? [...stamps, { phase, phaseTransitionTimestamp: timestamp(now) }] : stamps;
  const { suspension } = before;
  const told = phase === 'Failed' && suspension?.phase === 'Resuming' ? { suspension: { ...suspension, message: because } } : {};
  return { phase, phaseTransitionTimestamps: stamped, ...(reason !== undefined && { reason }), ...told };
}

function activePods(pods: readonly Pod[]): VmiStatus['activePods'] {
  const active = pods.filter((pod) => !isPodFinal(pod) && pod.metadata.uid && pod.spec.nodeName);
  if (active.length === 0) return undefined;
  return Object.fromEntries(active.map(({ metadata, spec }) => [metadata.uid ?? '', spec.nodeName ?? '']));
}

function conditionsAfter(observed: ObservedVmi, pod: Pod | undefined, phase: VmiStatus['phase']): readonly Condition[] {
  const { vmi, now } = observed;
  const before = vmi.status?.conditions ?? [];
  const asked = vmi.status?.evacuationNodeName;
  const withEviction = asked
    ? withCondition<VmiConditions>(before, { ...EVICTION_REQUESTED, message: `The instance has to leave node ${asked}` }, now)
    : withoutCondition<VmiConditions>(before, 'EvictionRequested');
  const withReady = withCondition<VmiConditions>(withEviction, readyCondition(pod, phase), now);
  const refusal = placeRefusal(pod);
  const withScheduled = refusal
    ? withCondition<VmiConditions>(withReady, copied('PodScheduled', refusal), now)
    : withoutCondition<VmiConditions>(withReady, 'PodScheduled');
  const problem = synchronizedProblem(observed, pod);
  if (problem) return withCondition<VmiConditions>(withScheduled, problem, now);
  return isOurSynchronized(vmi) ? withoutCondition<VmiConditions>(withScheduled, 'Synchronized') : withScheduled;
}

/** What the scheduler says of a Pod that fits nowhere. */
function placeRefusal(pod: Pod | undefined): Condition | undefined {
  const scheduled = conditionOf(pod?.status?.conditions, 'PodScheduled');
  return scheduled?.status === 'False' && scheduled.reason === 'Unschedulable' && pod && !isDeleting(pod) ? scheduled : undefined;
}

/** The first of these reasons that holds is the one that is shown. */
function readyCondition(pod: Pod | undefined, phase: VmiStatus['phase']): NewCondition<VmiConditions> {
  const no = (reason: NotReadyReason, message: string): NewCondition<VmiConditions> => ({
    type: 'Ready',
    status: 'False',
    reason,
    message,
  });
  if (!pod) return no('PodNotExists', 'The instance has no Pod');
  if (isDeleting(pod) || isPodFinal(pod)) return no('PodTerminating', 'The Pod of the instance is ending or has ended');
  if (phase !== 'Running') return no(GUEST_NOT_RUNNING.reason, GUEST_NOT_RUNNING.message);
  const ready = conditionOf(pod.status?.conditions, 'Ready');
  return ready ? copied('Ready', ready) : no('PodConditionMissing', 'The Pod does not say whether it is ready');
}

/** What the Pod says. */
function copied(type: 'Ready' | 'PodScheduled', { status, reason, message }: Condition): NewCondition<VmiConditions> {
  return { type, status, ...(reason !== undefined && { reason }), ...(message !== undefined && { message }) };
}

/** What a kubelet says about an image it cannot get, and the reason that clients know it by. */
const PULL_ERRORS: Readonly<Record<string, NotSynchronizedReason>> = {
  ErrImagePull: 'ErrImagePull',
  ImagePullBackOff: 'ImagePullBackOff',
  InvalidImageName: 'ErrImagePull',
  ErrImageNeverPull: 'ErrImagePull',
  RegistryUnavailable: 'ErrImagePull',
};
const OUR_REASONS: readonly NotSynchronizedReason[] = [
  'FailedCreate',
  'FailedPvcNotFound',
  'NoStorageClass',
  ...Object.values(PULL_ERRORS),
];

function synchronizedProblem({ vmi, createError, claims }: ObservedVmi, pod: Pod | undefined): NewCondition<VmiConditions> | undefined {
  const message = pod ? undefined : missingClaimMessage(vmi.metadata.namespace, claims);
  if (message !== undefined) return { type: 'Synchronized', status: 'False', reason: 'FailedPvcNotFound', message };
  if (!pod && createError) return { type: 'Synchronized', status: 'False', reason: 'FailedCreate', message: createError };
  if (!pod || isPodFinal(pod) || isDeleting(pod)) return undefined;
  const noClass = placeRefusal(pod) && classlessClaimMessage(vmi.metadata.namespace, claims);
  if (noClass !== undefined) return { type: 'Synchronized', status: 'False', reason: 'NoStorageClass', message: noClass };
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  for (const { state, image } of statuses) {
    const reason = PULL_ERRORS[state?.waiting?.reason ?? ''];
    if (reason) return { type: 'Synchronized', status: 'False', reason, message: state?.waiting?.message ?? `cannot get image ${image}` };
  }
  return undefined;
}

/** virt-handler reports its own troubles under the same type; those are not ours to remove. */
function isOurSynchronized(vmi: VirtualMachineInstance): boolean {
  const reason = vmiCondition(vmi, 'Synchronized')?.reason;
  return reason !== undefined && OUR_REASONS.includes(reason);
}
