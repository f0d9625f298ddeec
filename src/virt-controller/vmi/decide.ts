/**
 * What should happen to one VirtualMachineInstance and its launcher Pod, given everything we can see.
 *
 *   when                                        then
 *   the status or a phase (phase.ts) is behind  write it, once for everything that changed
 *   new, neither final nor deleting             put our finalizer on it
 *   final, and no Pod is left                   take our finalizer off
 *   its VM is gone                              take the VM controller's finalizer off
 *   it becomes Scheduling with a node           label it with that node: the virt-handler there looks for its QEMU from now on
 *   it becomes Scheduled                        the same, if it has no label yet; from now on it is that virt-handler's
 *   Pending, no Pod, a claim is missing         say so, once, and look again for it
 *   Pending, no Pod, a claim is being filled    look again for it
 *   Pending, no Pod, not deleting               create the Pod
 *   deleting                                    delete every Pod that is not being deleted yet; at once, where no virt-handler knows of it
 *   Running, a disk began as an image           mark its claim: the disk is there, the next start needs no image
 *   volumes come or go while it runs            see decide-hotplug.ts
 *   its memory is to be saved                   see decide-suspension.ts; one that resumes has its memory in the Pod
 *   its memory is to be dumped                  see memory-dump.ts
 *   it has a node and has not ended             tell the Pod whether the guest is paused, and what a probe inside it says: a guest
 *                                               that is paused or not ready leaves its Services
 *
 * An instance keeps its finalizer until all its Pods are gone, so that there is never a second one beside a first that still runs.
 * It has no status subresource: metadata and status go in one patch, always on condition that nobody else wrote in between.
 *
 * Pure: no clock, no I/O, no randomness. `observe.ts` gathers the input, `reconcile/` performs the output.
 */
import { isPodFinal, type Pod } from '../../api/core/pod.ts';
import { type ReadinessGates, vmiCondition, vmiIs } from '../../api/kubevirt/condition-reasons.ts';
import { withCondition } from '../../api/kubevirt/conditions.ts';
import { guestProbe } from '../../api/kubevirt/guest-probe.ts';
import { isFinal } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import {
  ANNOTATION_DISK_MADE,
  FINALIZER_VM_CONTROLLER,
  FINALIZER_VMI,
  LABEL_NODE_NAME,
  READINESS_GATE_GUEST,
  READINESS_GATE_UNPAUSED,
} from '../../api/kubevirt/names.ts';
import { type Condition, isDeleting, type KubeObject, refOf } from '../../api/meta.ts';
import { diffAsMergePatch } from '../../base/json.ts';
import type { Action, Decision, EventToRecord } from '../../reconcile/decision.ts';
import { claimsToMark, missingClaimMessage } from './claims.ts';
import { decideHotplug } from './decide-hotplug.ts';
import { decideSuspension } from './decide-suspension.ts';
import { decideMemoryDump } from './memory-dump.ts';
import type { ObservedVmi } from './observed.ts';
import { overrideEvent } from './override-event.ts';
import { currentPod, handlerPatienceMs, nextPhaseOf, type PhaseChange } from './phase.ts';
import { launcherPodOf } from './save-pod.ts';
import { deriveVmiStatus } from './status.ts';

/** How often to look for a claim that is not there yet. */
const CLAIM_PATIENCE_MS = 1_000;

/** The rules above, for one instance. */
export function decideVmi(observed: ObservedVmi): Decision {
  const change = nextPhaseOf(observed);
  const plugs = decideHotplug(observed);
  const isWaiting = waitsForClaim(observed) !== undefined || (needsPod(observed) && isBeingFilled(observed));
  const [saving, dumping] = [decideSuspension(observed), decideMemoryDump(observed)];
  const patienceMs = isWaiting ? CLAIM_PATIENCE_MS : handlerPatienceMs(observed);
  const waits = [patienceMs, plugs.lookAgainAfterMs, saving.lookAgainAfterMs, dumping.lookAgainAfterMs];
  const waitMs = Math.min(...waits.filter((ms) => ms !== undefined && ms > 0).map(Number));
  const actions = [
    ...write(observed, change),
    ...createPod(observed),
    ...deletePods(observed),
    ...patchReadinessGates(observed, change),
    ...markClaims(observed),
    ...plugs.actions,
    ...saving.actions,
    ...dumping.actions,
  ];
  return { actions, ...(Number.isFinite(waitMs) && { lookAgainAfterMs: waitMs }) };
}

function write(observed: ObservedVmi, change: PhaseChange | undefined): Action[] {
  const { vmi } = observed;
  const { labels = {}, finalizers = [] } = vmi.metadata;
  const from = { metadata: { labels, finalizers }, status: vmi.status ?? {} };
  const to = {
    metadata: { labels: labelsAfter(observed, change), finalizers: finalizersAfter(observed, change) },
    status: deriveVmiStatus(observed, change),
  };
  const patch = diffAsMergePatch(from, to);
  if (patch === undefined || (!change && isNotWorthAWrite(observed, patch as object))) return []; // a diff of two objects is an object
  const because = change ? `${change.phase}: ${change.because}` : 'what is known of it has changed';
  const event = change && eventOf(observed, change);
  return [{ ...patchOf(vmi, patch as object, because), ...(event && { event }) }];
}

/** Details that the next change of phase brings anyway: a write of their own would be one more for every start. */
const DETAILS: readonly string[] = ['status.activePods', 'status.qosClass'];

function isNotWorthAWrite(observed: ObservedVmi, patch: object): boolean {
  const { vmi, createError } = observed;
  const fields = Object.entries(patch).flatMap(([part, changed]) => Object.keys(changed ?? {}).map((field) => `${part}.${field}`));
  if (vmi.status?.phase === 'Scheduling') return fields.every((field) => DETAILS.includes(field));
  const hasProblem = createError !== undefined || waitsForClaim(observed) !== undefined;
  return needsPod(observed) && !hasProblem && fields.every((field) => field.startsWith('status.'));
}

/** An end that nobody asked for is worth a warning; the VM controller may delete the instance before anybody reads its status. */
function eventOf({ vmi }: ObservedVmi, { phase, because }: PhaseChange): EventToRecord | undefined {
  if (phase !== 'Failed' || isDeleting(vmi)) return undefined;
  return { type: 'Warning', reason: 'Stopped', message: `The virtual machine instance failed: ${because}` };
}

function labelsAfter(observed: ObservedVmi, change: PhaseChange | undefined): Readonly<Record<string, string>> {
  const { labels = {} } = observed.vmi.metadata;
  const nodeName = currentPod(observed)?.spec.nodeName;
  const isPlaced = change?.phase === 'Scheduling' || change?.phase === 'Scheduled';
  return isPlaced && nodeName ? { ...labels, [LABEL_NODE_NAME]: nodeName } : labels;
}

function finalizersAfter({ vmi, pods, isVmGone }: ObservedVmi, change: PhaseChange | undefined): readonly string[] {
  const { finalizers = [] } = vmi.metadata;
  const isDone = willBeFinal(vmi, change) && pods.length === 0;
  const kept = finalizers.filter(
    (finalizer) => !(finalizer === FINALIZER_VMI && isDone) && !(finalizer === FINALIZER_VM_CONTROLLER && isVmGone),
  );
  const isMissing = !finalizers.includes(FINALIZER_VMI) && !isDeleting(vmi) && !willBeFinal(vmi, change);
  return isMissing ? [...kept, FINALIZER_VMI] : kept;
}

function willBeFinal(vmi: ObservedVmi['vmi'], change: PhaseChange | undefined): boolean {
  return isFinal(vmi) || change?.phase === 'Failed';
}

function needsPod({ vmi, pods }: ObservedVmi): boolean {
  return vmi.status?.phase === 'Pending' && pods.length === 0 && !isDeleting(vmi);
}

function waitsForClaim(observed: ObservedVmi): string | undefined {
  return needsPod(observed) ? missingClaimMessage(observed.vmi.metadata.namespace, observed.claims) : undefined;
}

function isBeingFilled({ unfilledClaims }: ObservedVmi): boolean {
  return unfilledClaims !== undefined && unfilledClaims.size > 0;
}

function createPod(observed: ObservedVmi): Action[] {
  const { vmi, launcherImage, containerDisks, hasKvm, configuration, claims } = observed;
  if (!needsPod(observed)) return [];
  const message = waitsForClaim(observed);
  if (message !== undefined) {
    const isTold = vmiCondition(vmi, 'Synchronized')?.message === message;
    return isTold ? [] : [{ do: 'record', because: message, event: { type: 'Normal', reason: 'FailedPvcNotFound', message } }];
  }
  if (isBeingFilled(observed)) return [];
  const pod = launcherPodOf(vmi, { image: launcherImage, claims, containerDisks, hasKvm, ...(configuration && { configuration }) });
  const event: EventToRecord = { type: 'Normal', reason: 'SuccessfulCreate', message: `Created virtual machine pod ${pod.metadata.name}` };
  return [{ do: 'create', object: pod, because: 'VMI is Pending', event }, ...overrideEvent(vmi)];
}

/** Under its own condition: whoever deletes or changes the claim meanwhile is not written over. */
function markClaims({ vmi, claims }: ObservedVmi): Action[] {
  if (vmi.status?.phase !== 'Running') return [];
  return claimsToMark(vmi.spec, claims).map((claim) => ({
    do: 'patch',
    target: refOf(claim),
    patch: { metadata: { annotations: { [ANNOTATION_DISK_MADE]: claim.metadata.uid } } },
    resourceVersion: claim.metadata.resourceVersion,
    because: 'its guest runs from its disk, which needs no image any more',
  }));
}

/** A Pod does not heed its stop signal: virt-handler asks the guest to power off. Where it never will, waiting would only keep others waiting. */
function deletePods({ vmi, pods }: ObservedVmi): Action[] {
  if (!isDeleting(vmi)) return [];
  const isHandedOver = vmi.status?.nodeName !== undefined;
  return pods
    .filter((pod) => !isDeleting(pod))
    .map((pod) => ({
      do: 'delete',
      target: refOf(pod),
      ...(!isHandedOver && { gracePeriodSeconds: 1 }),
      because: 'VMI is being deleted',
      event: { type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted virtual machine pod ${pod.metadata.name}` },
    }));
}

/**
 * The readiness gates: without these conditions the Pod never becomes ready. The first is opened as soon as the Pod has a node: a kubelet
 * looks at its containers once a second, and what it then says of them is that they run and that the Pod is ready, in one write. So are
 * Running and Ready of the instance, and of its VM.
 */
function patchReadinessGates(observed: ObservedVmi, change: PhaseChange | undefined): Action[] {
  const { vmi, now } = observed;
  const pod = currentPod(observed);
  const phase = change?.phase ?? vmi.status?.phase;
  if (!pod?.spec.nodeName || isDeleting(vmi) || isDeleting(pod) || isPodFinal(pod) || willBeFinal(vmi, change)) return [];
  const isPaused = phase === 'Running' ? vmiIs(vmi, 'Paused') : vmi.spec.startStrategy === 'Paused';
  const gate = isPaused
    ? ({ type: READINESS_GATE_UNPAUSED, status: 'False', reason: 'Paused', message: 'The guest is paused' } as const)
    : ({ type: READINESS_GATE_UNPAUSED, status: 'True', reason: 'NotPaused', message: 'The guest is not paused' } as const);
  const before = pod.status?.conditions ?? [];
  const unpaused = withCondition<ReadinessGates>(before, gate, now);
  const conditions = withGuestGate(unpaused, observed);
  if (conditions === before) return [];
  const told =
    conditions === unpaused ? (isPaused ? 'the guest is paused' : 'the guest is not paused') : 'the guest was asked whether it is ready';
  return [{ ...patchOf(pod, { status: { conditions } }, told), subresource: 'status' }];
}

/** What the readiness probe inside the guest says, once it has said something. */
function withGuestGate(conditions: readonly Condition[], { vmi, now }: ObservedVmi): readonly Condition[] {
  const said = guestProbe(vmi.spec, 'readiness') && vmiCondition(vmi, 'GuestReady');
  if (!said) return conditions;
  const { status, reason, message } = said;
  return withCondition<ReadinessGates>(
    conditions,
    { type: READINESS_GATE_GUEST, status, ...(reason !== undefined && { reason }), ...(message !== undefined && { message }) },
    now,
  );
}

/** A patch that holds only for the object as we saw it. */
function patchOf(object: KubeObject | Pod, patch: object, because: string): Extract<Action, { do: 'patch' }> {
  return { do: 'patch', target: refOf(object), patch, resourceVersion: object.metadata.resourceVersion, because };
}
