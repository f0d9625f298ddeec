/** The VirtualMachine status that follows from what we can see and from what was just decided. Pure, like decide.ts. */
import { type VmConditions, type VmiConditions, vmCondition, vmiCondition, vmiIs } from '../../api/kubevirt/condition-reasons.ts';
import { withCondition, withoutCondition } from '../../api/kubevirt/conditions.ts';
import { isMoving } from '../../api/kubevirt/kinds/migration.ts';
import { runStrategyOf, type StateChangeRequest, type VirtualMachine, type VmStatus } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { isFinal, type VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ANNOTATION_VM_GENERATION } from '../../api/kubevirt/names.ts';
import { type Condition, conditionOf, isDeleting } from '../../api/meta.ts';
import { GUEST_NOT_RUNNING } from '../vmi/status.ts';
import { failedDataVolume, isProvisioning } from './data-volumes.ts';
import { isHandlerLost } from './heartbeat.ts';
import { choiceFailureOf, isRerunOwed, isSetToStart, obstacleOf, stopWasRequested, willStart } from './intent.ts';
import { LAST_SHUTDOWN, lastShutdownOf } from './last-shutdown.ts';
import { memoryDumpAfter } from './memory-dump.ts';
import type { ObservedVm } from './observed.ts';
import { fieldsAwaitingRestart, generationOf, revisionOf } from './revision.ts';
import { startFailureAfter } from './start-failure.ts';
import { suspensionAfter, whyNotSaved } from './suspension.ts';

/** What the controller is about to do with the instance. */
export type Next = 'create' | 'delete' | 'leave';
type Seen = ObservedVm & { readonly next: Next; readonly startFailure: VmStatus['startFailure'] };

/** The whole status; compare it with `vm.status` to know whether to write. */
export function deriveVmStatus(observed: ObservedVm, next: Next): VmStatus {
  const { vm, vmi } = observed;
  const startFailure = startFailureAfter(observed);
  return {
    ...vm.status,
    created: vmi !== undefined,
    virtualMachine: vmi?.metadata.name,
    ready: isReady(vmi),
    printableStatus: PRINTABLE.find(([, holds]) => holds({ ...observed, next, startFailure }))?.[0] ?? 'Unknown',
    runStrategy: recordedStrategy(observed),
    stateChangeRequests: requestsAfter(observed),
    startFailure,
    suspension: suspensionAfter(observed),
    memoryDumpRequest: memoryDumpAfter(observed),
    changedBlockTracking: vmi?.status?.changedBlockTracking,
    conditions: conditionsAfter(observed, next),
    ...(vmi && generations(vm, vmi)),
  };
}

/** First match wins, so order is precedence. */
const PRINTABLE: readonly [string, (seen: Seen) => boolean][] = [
  ['Terminating', ({ vm }) => isDeleting(vm)],
  ['Suspended', (seen) => isAtRest(seen) && suspensionAfter(seen)?.phase === 'Suspended'],
  ['Suspending', ({ vmi, ...seen }) => vmi?.status?.phase === 'Running' && suspensionAfter({ vmi, ...seen })?.phase === 'Suspending'],
  ['Resuming', (seen) => seen.vmi?.status?.phase !== 'Running' && suspensionAfter(seen)?.phase === 'Resuming'],
  ['Stopping', ({ vmi, next }) => vmi !== undefined && !isFinal(vmi) && (isDeleting(vmi) || next === 'delete')],
  ['Unknown', isHandlerLost],
  ['Paused', ({ vmi }) => vmi?.status?.phase === 'Running' && vmiIs(vmi, 'Paused')],
  ['Migrating', ({ vmi }) => vmi?.status?.phase === 'Running' && isMoving(vmi.status.migrationState)],
  ['Running', ({ vmi }) => vmi?.status?.phase === 'Running'],
  ['ErrorPvcNotFound', ({ vmi }) => isBeforeRun(vmi) && isFalseBecause(vmi, 'Synchronized', 'FailedPvcNotFound')],
  ['DataVolumeError', (seen) => failedDataVolume(seen) !== undefined],
  ['ErrorUnschedulable', ({ vmi }) => isBeforeRun(vmi) && isFalseBecause(vmi, 'PodScheduled', 'Unschedulable')],
  ['Provisioning', isProvisioning],
  ['WaitingForVolumeBinding', (seen) => seen.unboundClaim !== undefined && (!seen.vmi || isBeforeRun(seen.vmi)) && isSetToStart(seen)],
  ['ErrImagePull', ({ vmi }) => isBeforeRun(vmi) && isFalseBecause(vmi, 'Synchronized', 'ErrImagePull')],
  ['ImagePullBackOff', ({ vmi }) => isBeforeRun(vmi) && isFalseBecause(vmi, 'Synchronized', 'ImagePullBackOff')],
  ['Starting', ({ vmi, next }) => next === 'create' || isBeforeRun(vmi)],
  ['CrashLoopBackOff', (seen) => isAtRest(seen) && isInCrashLoop(seen)],
  // Beyond upstream, which says Stopped here: between two instances the VM is on its way up again.
  ['Starting', (seen) => isAtRest(seen) && willStart(seen)],
  ['Stopped', isAtRest],
];

function isBeforeRun(vmi: VirtualMachineInstance | undefined): boolean {
  const phase = vmi?.status?.phase;
  return vmi !== undefined && (phase === undefined || phase === 'Pending' || phase === 'Scheduling' || phase === 'Scheduled');
}

function isFalseBecause<Type extends keyof VmiConditions>(
  vmi: VirtualMachineInstance | undefined,
  type: Type,
  reason: VmiConditions[Type],
): boolean {
  const condition = vmiCondition(vmi, type);
  return condition?.status === 'False' && condition.reason === reason;
}

function isAtRest({ vmi }: Seen): boolean {
  return !vmi || isFinal(vmi);
}

/** Beyond upstream: a VM that was stopped while its starts failed is not in a loop any more. One that runs Once is told as upstream does. */
function isInCrashLoop(seen: Seen): boolean {
  return (seen.startFailure?.consecutiveFailCount ?? 0) > 0 && (willStart(seen) || runStrategyOf(seen.vm) === 'Once');
}

/**
 * The strategy last acted on. RerunOnFailure is recorded only when its instance is there: the record is what says
 * that the start after a switch has happened, so writing it earlier would lose that start to a failed create.
 */
function recordedStrategy({ vm, vmi }: ObservedVm): VmStatus['runStrategy'] {
  const strategy = runStrategyOf(vm);
  const before = vm.status?.runStrategy;
  if (vmi) return strategy;
  return before === undefined || strategy === 'RerunOnFailure' ? before : strategy;
}

/** At most one satisfied request leaves the front; a failed instance that is to be rerun adds a Start. */
function requestsAfter(observed: ObservedVm): StateChangeRequest[] | undefined {
  const { vm } = observed;
  const [first, ...rest] = vm.status?.stateChangeRequests ?? [];
  const pending = first && !isSatisfied(first, observed) ? [first, ...rest] : rest;
  const owesStart = isRerunOwed(observed) && !pending.some(({ action }) => action === 'Start');
  const requests: StateChangeRequest[] = owesStart ? [...pending, { action: 'Start' }] : pending;
  return requests.length > 0 ? requests : undefined;
}

function isSatisfied({ action }: StateChangeRequest, observed: ObservedVm): boolean {
  const { vmi } = observed;
  if (action === 'Stop') return !stopWasRequested(observed);
  return vmi !== undefined && !isDeleting(vmi) && !isFinal(vmi);
}

/** Conditions of the VM: those of its instance as they are, Ready even without one, and Failure while we cannot do our work. */
function conditionsAfter(observed: ObservedVm, next: Next): readonly Condition[] {
  const { vm, vmi, now } = observed;
  const before = vm.status?.conditions ?? [];
  const mirrored = vmi ? mirror(before, vmi) : before;
  const withReady = withSuspended(withRestartRequired(withLastShutdown(readyAfter(observed, mirrored), observed), observed), observed);
  const failure = failureOf(observed, next);
  return failure
    ? withCondition<VmConditions>(withReady, { type: 'Failure', status: 'True', ...failure }, now)
    : withoutCondition<VmConditions>(withReady, 'Failure');
}

/** What keeps us from doing our work, as long as it is still to be done. */
function failureOf(observed: ObservedVm, next: Next): { readonly reason: VmConditions['Failure']; readonly message: string } | undefined {
  const { vm, vmi, createError, deleteError } = observed;
  if (next === 'delete' && deleteError !== undefined) return { reason: 'FailedDelete', message: deleteError };
  const choiceFailure = vmi || isDeleting(vm) ? undefined : choiceFailureOf(observed);
  if (choiceFailure) return choiceFailure;
  const message = obstacleOf(observed) ?? (!vmi && willStart(observed) ? createError : undefined);
  return message === undefined || isDeleting(vm) ? undefined : { reason: 'FailedCreate', message };
}

/** Before the guest runs, why it is not ready yet is the instance's to tell: each reason here would be one more write per start. */
function readyAfter({ vm, vmi, now }: ObservedVm, conditions: readonly Condition[]): readonly Condition[] {
  const ready = vmiCondition(vmi, 'Ready');
  if (!ready) return withCondition<VmConditions>(conditions, notReady(vmi), now);
  if (ready.status === 'True' && !isReady(vmi))
    return withCondition<VmConditions>(conditions, { type: 'Ready', status: 'False', ...GUEST_NOT_RUNNING }, now);
  const before = vmCondition(vm, 'Ready');
  const isOldNews = before?.status === 'False' && before.reason !== NO_INSTANCE && ready.status === 'False' && isBeforeRun(vmi);
  return isOldNews ? conditions : replace(conditions, ready);
}

/** A guest that has ended is not ready, whatever its instance still says of its Pod: its phase is written first. */
function isReady(vmi: VirtualMachineInstance | undefined): boolean {
  return vmi !== undefined && !isFinal(vmi) && vmiIs(vmi, 'Ready');
}

function withLastShutdown(conditions: readonly Condition[], observed: ObservedVm): readonly Condition[] {
  const next = lastShutdownOf(observed);
  const isTold = next !== undefined && conditionOf(conditions, LAST_SHUTDOWN)?.lastTransitionTime === next.lastTransitionTime;
  return next && !isTold ? replace(conditions, next) : conditions; // told once: afterwards it is we who delete the instance
}

/** While an instance and the record of its start exist; equal wording keeps its time, a new list of fields is a new fact. */
function withRestartRequired(conditions: readonly Condition[], { vm, vmi, revisions, copies, now }: ObservedVm): readonly Condition[] {
  const revision = vmi && !isFinal(vmi) && !isDeleting(vmi) ? revisionOf(vmi, revisions) : undefined;
  const fields = revision ? fieldsAwaitingRestart(vm, revision, copies) : [];
  if (fields.length === 0) return withoutCondition<VmConditions>(conditions, RESTART_REQUIRED);
  const message = `These fields of the template wait for a restart: ${fields.join(', ')}`;
  const isSame = conditionOf(conditions, RESTART_REQUIRED)?.message === message;
  const others = isSame ? conditions : withoutCondition<VmConditions>(conditions, RESTART_REQUIRED);
  return withCondition<VmConditions>(others, { type: RESTART_REQUIRED, status: 'True', reason: 'TemplateChanged', message }, now);
}

/** True while its memory is on a PVC; False, with the reason, when it was to be and is not, until the instance has ended. */
function withSuspended(conditions: readonly Condition[], observed: ObservedVm): readonly Condition[] {
  const { vm, vmi, now } = observed;
  const after = suspensionAfter(observed);
  if (after?.phase === 'Suspended') {
    const message = after.message
      ? `It could not be resumed: ${after.message}. virtctl start --discard boots it anew, virtctl stop throws the saved memory away`
      : `Its memory is on PVC ${after.claimName}; virtctl resume resumes it, virtctl stop throws the saved memory away`;
    const reason = after.message ? 'ResumeFailed' : 'MemorySaved';
    return withCondition<VmConditions>(conditions, { type: SUSPENDED, status: 'True', reason, message }, now);
  }
  if (vm.status?.suspension?.phase === 'Suspending' && !after && vmi && !isFinal(vmi))
    return withCondition<VmConditions>(
      withoutCondition<VmConditions>(conditions, SUSPENDED),
      { type: SUSPENDED, status: 'False', reason: 'SuspendFailed', message: whyNotSaved(observed) },
      now,
    );
  const isOldNews = conditionOf(conditions, SUSPENDED)?.status === 'True' || !vmi || isFinal(vmi) || after !== undefined;
  return isOldNews ? withoutCondition<VmConditions>(conditions, SUSPENDED) : conditions;
}

function notReady(vmi: VirtualMachineInstance | undefined) {
  const reason = vmi ? 'VMIConditionMissing' : NO_INSTANCE;
  const message = vmi ? 'The instance does not say whether it is ready' : 'There is no instance';
  return { type: 'Ready', status: 'False', reason, message } as const;
}

/** While there is an instance its conditions replace the mirrored ones; afterwards the last picture stays. */
function mirror(before: readonly Condition[], vmi: VirtualMachineInstance): readonly Condition[] {
  const current = (vmi.status?.conditions ?? []).filter(({ type }) => !OWN_CONDITIONS.includes(type));
  const kept = before.filter(({ type }) => OWN_CONDITIONS.includes(type) || current.some((condition) => condition.type === type));
  return current.reduce(replace, kept);
}

const NO_INSTANCE = 'VMINotExists';
const RESTART_REQUIRED = 'RestartRequired';
const SUSPENDED = 'Suspended';
const OWN_CONDITIONS: readonly string[] = ['Ready', 'Failure', LAST_SHUTDOWN, RESTART_REQUIRED, SUSPENDED] satisfies (keyof VmConditions)[];

/** Nulls are left out: a merge patch may lose them, and a copy that never equals its original would be written for ever. */
function replace(conditions: readonly Condition[], { lastProbeTime, lastTransitionTime, ...rest }: Condition): readonly Condition[] {
  const next: Condition = { ...rest, ...(lastProbeTime && { lastProbeTime }), ...(lastTransitionTime && { lastTransitionTime }) };
  const at = conditions.findIndex(({ type }) => type === next.type);
  return at < 0 ? [...conditions, next] : conditions.with(at, next);
}

function generations(vm: VirtualMachine, vmi: VirtualMachineInstance): Pick<VmStatus, 'observedGeneration' | 'desiredGeneration'> {
  const made = Number(vmi.metadata.annotations?.[ANNOTATION_VM_GENERATION]);
  return { desiredGeneration: generationOf(vm), ...(Number.isInteger(made) && { observedGeneration: made }) };
}
