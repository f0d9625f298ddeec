/**
 * What should happen to one VirtualMachineRestore. First match wins.
 *
 *   when                                              then
 *   over, or deleting and nothing of it is left       let the machine go, then the restore
 *   deleting                                          delete the claims that no machine uses yet
 *   without our finalizer                             add it
 *   no snapshot, one that failed or has no content    fail; one that is being taken is waited for
 *   it has begun, and its snapshot is deleted         fail: the claims that no machine uses go
 *   the machine is being snapshotted, or restored     wait
 *   the machine is suspended                          as targetReadinessPolicy says, but that its memory is never thrown away for it
 *   the machine runs                                  as targetReadinessPolicy says: wait (5 minutes), stop it, fail
 *   the machine is not marked                         mark it: it is not started from now on
 *   in place, and claims of then are there            see in-place.ts: they go first
 *   claims are missing                                make them; they begin as the VolumeSnapshots
 *   a claim of such a name is somebody else's         fail
 *   claims are not bound                              wait: their data is not whole
 *   the machine is not what it was                    change it in one write, or make it, halted
 *   claims do not go with the machine, but should     make them
 *   memory was kept, and the machine does not have it make it one that is suspended, with that (restored-memory.ts)
 *   otherwise                                         it is complete
 *
 * So a machine never has a claim that is not whole, and what it had stays as it is. Pure: no clock, no I/O, no randomness.
 */
import type { VmRestoreConditions } from '../../api/kubevirt/condition-reasons.ts';
import { withCondition } from '../../api/kubevirt/conditions.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { runStrategyOf } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VmRestoreStatus } from '../../api/kubevirt/kinds/vm-restore.ts';
import type { VirtualMachineSnapshotContent } from '../../api/kubevirt/kinds/vm-snapshot-content.ts';
import { ANNOTATION_LAST_RESTORE, FINALIZER_VM_RESTORE } from '../../api/kubevirt/names.ts';
import { controllerReferenceTo, hasCondition, isDeleting, type KubeObject, refOf } from '../../api/meta.ts';
import { diffAsMergePatch } from '../../base/json.ts';
import { timestamp } from '../../base/timestamp.ts';
import { type Action, type Decision, nothingToDo } from '../../reconcile/decision.ts';
import { clonedVm } from '../clone/cloned-vm.ts';
import { backupsOf } from '../snapshot/memory.ts';
import { inPlaceStep, isOurs, isPastReturn, replacedDataVolumes } from './in-place.ts';
import type { ObservedVmRestore } from './observed.ts';
import { claimNameFor, ownerOf, ownsClaims, specFor, vmFor } from './restored.ts';
import { claimOf, giveMemory, hasMemory, isMemoryClaim, whyNoMemory } from './restored-memory.ts';

const LOOK_MS = 250;
const WAIT_MS = 1_000;
const GRACE_MS = 5 * 60_000;

/** The rules above, for one restore. */
export function decideVmRestore(observed: ObservedVmRestore): Decision {
  const { restore, vm, content } = observed;
  const { finalizers = [] } = restore.metadata;
  if (isOver(observed) || (isDeleting(restore) && !isPastReturn(observed))) return letGo(observed);
  if (!finalizers.includes(FINALIZER_VM_RESTORE))
    return {
      actions: [patchOf(restore, { metadata: { finalizers: [...finalizers, FINALIZER_VM_RESTORE] } }, 'the machine is let go first')],
    };
  const unusable = whyUnusable(observed) ?? whyNoMemory(observed);
  if (unusable !== undefined) return fail(observed, 'SnapshotUnusable', unusable);
  const why = whyNotYet(observed);
  if (why !== undefined || !content) return wait(observed, why ?? '', WAIT_MS);
  if (vm?.status?.suspension && !hasMemory(observed)) return awaitMemory(observed, vm);
  if (vm && observed.vmi) return awaitEnd(observed, vm);
  if (vm && vm.status?.restoreInProgress !== restore.metadata.name) return { actions: [mark(observed, vm)] };
  return fill(observed, content);
}

function isOver({ restore }: ObservedVmRestore): boolean {
  return restore.status?.complete === true || hasCondition(restore.status?.conditions, 'Failure');
}

/** The machine is let go after the claims that it does not use, and the restore last. */
function letGo(observed: ObservedVmRestore): Decision {
  const { restore, vm, claims } = observed;
  const { finalizers = [] } = restore.metadata;
  if (!finalizers.includes(FINALIZER_VM_RESTORE)) return nothingToDo;
  const left = isUsed(observed) ? [] : [...claims.values()].filter((claim) => claim && isOurs(observed, claim) && !isDeleting(claim));
  if (left.length > 0) return { actions: left.flatMap((claim) => (claim ? [discard(claim)] : [])) };
  const because = `restore ${restore.metadata.name} is over`;
  if (vm?.status?.restoreInProgress === restore.metadata.name)
    return {
      actions: [{ ...patchOf(vm, { status: { restoreInProgress: null } }, because), subresource: 'status' }],
      lookAgainAfterMs: LOOK_MS,
    };
  const rest = finalizers.filter((each) => each !== FINALIZER_VM_RESTORE);
  return { actions: [patchOf(restore, { metadata: { finalizers: rest } }, because)] };
}

/** True when a machine has the claims. */
function isUsed({ restore, vm }: ObservedVmRestore): boolean {
  return restore.status?.complete === true || vm?.metadata.annotations?.[ANNOTATION_LAST_RESTORE] === restore.metadata.uid;
}

function discard(claim: KubeObject): Action {
  return { do: 'delete', target: refOf(claim), because: 'no machine has come to use it' };
}

function whyUnusable(observed: ObservedVmRestore): string | undefined {
  const { restore, snapshot, content } = observed;
  const name = restore.spec.virtualMachineSnapshotName;
  const hasBegun = restore.status?.restores !== undefined;
  if (hasBegun && (!snapshot || (isDeleting(snapshot) && !isPastReturn(observed))))
    return `VirtualMachineSnapshot ${name} was deleted while it was restored${isUsed(observed) ? ': the machine has its disks already' : ''}`;
  if (snapshot?.status?.phase === 'Failed') return `VirtualMachineSnapshot ${name} failed: ${snapshot.status.error?.message ?? ''}`;
  if (snapshot?.status?.readyToUse && !content) return `VirtualMachineSnapshot ${name} has lost what it kept`;
  const kept = content?.spec.source.virtualMachine?.spec;
  return content && !kept ? `VirtualMachineSnapshot ${name} has kept no machine` : undefined;
}

function whyNotYet(observed: ObservedVmRestore): string | undefined {
  const { restore, snapshot, vm } = observed;
  const name = restore.spec.virtualMachineSnapshotName;
  if (!snapshot) return `VirtualMachineSnapshot ${name} does not exist`;
  if (!snapshot.status?.readyToUse) return `VirtualMachineSnapshot ${name} is not whole yet`;
  if (isDeleting(snapshot) && !isPastReturn(observed)) return `VirtualMachineSnapshot ${name} is being deleted`;
  if (!vm) return undefined;
  if (isDeleting(vm)) return `VirtualMachine ${vm.metadata.name} is being deleted`;
  const { snapshotInProgress, restoreInProgress } = vm.status ?? {};
  if (snapshotInProgress) return `snapshot ${snapshotInProgress} of ${vm.metadata.name} is being taken`;
  return restoreInProgress && restoreInProgress !== restore.metadata.name
    ? `restore ${restoreInProgress} is changing ${vm.metadata.name}`
    : undefined;
}

function awaitEnd(observed: ObservedVmRestore, vm: VirtualMachine): Decision {
  const { restore } = observed;
  const message = `VirtualMachine ${vm.metadata.name} is running: stop it`;
  switch (restore.spec.targetReadinessPolicy) {
    case 'FailImmediate':
      return fail(observed, 'TargetNotReady', message);
    case 'StopTarget': {
      if (runStrategyOf(vm) === 'Halted') return wait(observed, message, LOOK_MS);
      const spec = vm.spec.running === undefined ? { runStrategy: 'Halted' } : { running: false };
      return { actions: [patchOf(vm, { spec }, `restore ${restore.metadata.name} stops it`)] };
    }
    case 'WaitEventually':
      return wait(observed, message, WAIT_MS);
    case 'WaitGracePeriod':
    case undefined:
      return waitGracePeriod(observed, message);
  }
}

/** Not for ever, unless somebody asked for that: whoever throws the memory away in a week wants the disks of then. */
function awaitMemory(observed: ObservedVmRestore, vm: VirtualMachine): Decision {
  const message = `VirtualMachine ${vm.metadata.name} is suspended, and its memory knows the disks of now: virtctl stop throws it away`;
  switch (observed.restore.spec.targetReadinessPolicy) {
    case 'FailImmediate':
      return fail(observed, 'TargetNotReady', message);
    case 'WaitEventually':
      return wait(observed, message, WAIT_MS);
    case 'StopTarget':
    case 'WaitGracePeriod':
    case undefined:
      return waitGracePeriod(observed, message);
  }
}

function waitGracePeriod(observed: ObservedVmRestore, message: string): Decision {
  const { restore, now } = observed;
  const isLate = now - (Date.parse(restore.metadata.creationTimestamp ?? '') || now) >= GRACE_MS;
  return isLate ? fail(observed, 'TargetNotReady', `${message}; it was waited for 5 minutes`) : wait(observed, message, WAIT_MS);
}

function mark({ restore }: ObservedVmRestore, vm: VirtualMachine): Action {
  const patch = { status: { restoreInProgress: restore.metadata.name } };
  return { ...patchOf(vm, patch, `restore ${restore.metadata.name} is changing it`), subresource: 'status' };
}

function fill(observed: ObservedVmRestore, content: VirtualMachineSnapshotContent): Decision {
  const { restore, claims, lateClasses } = observed;
  const backups = backupsOf(content).map((backup) => ({
    backup,
    claim: claims.get(claimNameFor(restore, backup)),
  }));
  const step = inPlaceStep(observed, content);
  if (step?.do === 'fail') return fail(observed, 'TargetNotReady', step.message);
  if (step?.do === 'wait') return wait(observed, step.message, LOOK_MS);
  if (step?.do === 'act') return { actions: [...tell(observed, begun(observed, content)), ...step.actions], lookAgainAfterMs: LOOK_MS };
  const foreign = backups.find(({ claim }) => claim && !isOurs(observed, claim))?.claim;
  if (foreign) return fail(observed, 'TargetNotReady', `PVC ${foreign.metadata.name} is there already, and is not of this restore`);
  const missing = backups.filter(({ claim }) => !claim).map(({ backup }) => claimOf(observed, backup));
  if (missing.length > 0) {
    const create = missing.map((object) => ({ do: 'create', object, because: 'it begins as a snapshot' }) as const);
    return { actions: [...tell(observed, begun(observed, content)), ...create], lookAgainAfterMs: LOOK_MS };
  }
  const unbound = backups.find(
    ({ claim }) => claim?.status?.phase !== 'Bound' && !lateClasses.has(claim?.spec.storageClassName ?? ''),
  )?.claim;
  if (unbound) return wait(observed, `PVC ${unbound.metadata.name} is not filled yet`, LOOK_MS);
  return change(observed, content);
}

function change(observed: ObservedVmRestore, content: VirtualMachineSnapshotContent): Decision {
  const { restore, vm, claims } = observed;
  if (!vm) {
    if (observed.clone === 'gone') return nothingToDo; // it goes with its clone
    const made = vmFor(restore, content);
    const object = made && observed.clone ? clonedVm(made, observed.clone) : made;
    return object
      ? { actions: [{ do: 'create', object, because: 'it is to begin as a snapshot' }], lookAgainAfterMs: LOOK_MS }
      : nothingToDo;
  }
  if (vm.metadata.annotations?.[ANNOTATION_LAST_RESTORE] !== restore.metadata.uid) {
    const spec = diffAsMergePatch(vm.spec, specFor(restore, content, vm));
    const annotations = { [ANNOTATION_LAST_RESTORE]: restore.metadata.uid };
    const patch = { metadata: { annotations }, ...(spec !== undefined && { spec }) };
    return { actions: [patchOf(vm, patch, 'it becomes what it was')] };
  }
  const ownerless = [...claims.values()].flatMap((claim) =>
    claim && goesWithMachine(observed, claim) && !isOwned(claim, vm) ? [claim] : [],
  );
  if (ownerless.length > 0) return { actions: ownerless.map((claim) => own(observed, claim, vm)), lookAgainAfterMs: LOOK_MS };
  if (content.spec.memory && !hasMemory(observed)) return { actions: giveMemory(observed, vm, content), lookAgainAfterMs: LOOK_MS };
  const event = { type: 'Normal', reason: 'VirtualMachineRestoreComplete', message: `${vm.metadata.name} is what it was` } as const;
  const [write] = tell(observed, complete(observed, content));
  return { actions: write ? [{ ...write, event }] : [] };
}

function goesWithMachine(observed: ObservedVmRestore, claim: KubeObject): boolean {
  return ownsClaims(observed.restore) || isMemoryClaim(observed, claim);
}

function isOwned({ metadata }: KubeObject, vm: VirtualMachine): boolean {
  return (metadata.ownerReferences ?? []).some(({ uid }) => uid === vm.metadata.uid);
}

function own(observed: ObservedVmRestore, claim: KubeObject, vm: VirtualMachine): Action {
  const owner = isMemoryClaim(observed, claim) ? controllerReferenceTo(vm) : ownerOf(vm);
  const ownerReferences = [...(claim.metadata.ownerReferences ?? []), owner];
  return patchOf(claim, { metadata: { ownerReferences } }, `it goes with ${vm.metadata.name}`);
}

function begun(observed: ObservedVmRestore, content: VirtualMachineSnapshotContent): VmRestoreStatus {
  const { restore, now } = observed;
  const restores = (content.spec.volumeBackups ?? []).map((backup) => ({
    volumeName: backup.volumeName,
    persistentVolumeClaim: claimNameFor(restore, backup),
    volumeSnapshotName: backup.volumeSnapshotName ?? '',
  }));
  const filling = said(restore.status, ['False', 'True', 'InProgress', 'its PVCs are being filled'], now);
  return { ...filling, ...replacedDataVolumes(observed), restores, complete: false };
}

function complete(observed: ObservedVmRestore, content: VirtualMachineSnapshotContent): VmRestoreStatus {
  const { restore, now } = observed;
  const { restores } = begun(observed, content);
  const status = said(restore.status, ['True', 'False', 'Succeeded', 'the machine is what it was'], now);
  return { ...status, ...(restores && { restores }), complete: true, restoreTime: timestamp(now) };
}

function wait(observed: ObservedVmRestore, message: string, lookAgainAfterMs: number): Decision {
  const { restore, now } = observed;
  return {
    actions: tell(observed, { ...said(restore.status, ['False', 'False', 'Waiting', message], now), complete: false }),
    lookAgainAfterMs,
  };
}

function fail(observed: ObservedVmRestore, reason: VmRestoreConditions['Failure'], message: string): Decision {
  const { restore, now } = observed;
  const status = said(restore.status, ['False', 'False', 'Failed', message], now);
  const conditions = withCondition<VmRestoreConditions>(status.conditions ?? [], { type: 'Failure', status: 'True', reason, message }, now);
  const [write] = tell(observed, { ...status, conditions, complete: false });
  return {
    actions: write ? [{ ...write, event: { type: 'Warning', reason: 'VirtualMachineRestoreFailed', message } }] : [],
    lookAgainAfterMs: LOOK_MS,
  };
}

type Said = readonly ['True' | 'False', 'True' | 'False', 'InProgress' | 'Waiting' | 'Failed' | 'Succeeded', string];

function said(before: VmRestoreStatus = {}, [ready, progressing, reason, message]: Said, now: number): VmRestoreStatus {
  const isReady = { type: 'Ready', status: ready, reason: reason === 'Waiting' ? 'InProgress' : reason, message } as const;
  const first = withCondition<VmRestoreConditions>(before.conditions ?? [], isReady, now);
  return {
    ...before,
    conditions: withCondition<VmRestoreConditions>(first, { type: 'Progressing', status: progressing, reason, message }, now),
  };
}

function tell({ restore }: ObservedVmRestore, status: VmRestoreStatus): Extract<Action, { do: 'patch' }>[] {
  const patch = diffAsMergePatch(restore.status ?? {}, status);
  return patch === undefined ? [] : [{ ...patchOf(restore, { status: patch }, 'what is known of it has changed'), subresource: 'status' }];
}

/** A patch that holds only for the object as we saw it. */
function patchOf(object: KubeObject, patch: object, because: string): Extract<Action, { do: 'patch' }> {
  return { do: 'patch', target: refOf(object), patch, resourceVersion: object.metadata.resourceVersion, because };
}
