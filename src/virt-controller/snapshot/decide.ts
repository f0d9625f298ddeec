/**
 * What should happen to one VirtualMachineSnapshot. First match wins.
 *
 *   when                                                  then
 *   deleting, a restore in place is taking disks from it  wait
 *   deleting                                              let the guest and the machine go on, delete the content unless it is to stay, go
 *   without our finalizer                                 add it
 *   over, well or not                                     let the machine go; of one that failed nothing is left
 *   later than its deadline                               Failed: what was begun goes, the guest and the machine go on
 *   the cluster has no VolumeSnapshots                    Failed, with the reason
 *   no machine, another snapshot or a restore of it,      say so, and wait for the deadline
 *   a claim that is not bound or not filled yet, a guest
 *   on its way,
 *   a machine on its way into or out of a suspension,
 *   a claim that a Pod of a stopped machine has mounted
 *   the machine is not marked                             mark it: it outlives its deletion, and one snapshot is taken of it at a time
 *   its memory is to be kept                              see memory.ts: the machine is suspended first
 *   no content                                            make it: what the machine is, and what its VolumeSnapshots will be called
 *   a disk is written while it is copied                  see stand-still.ts: the guest is paused meanwhile
 *   VolumeSnapshots are missing                           freeze the guest, if it has an agent, and make all of them
 *   a guest with an agent that this process did not       delete those that are there: all of them are of one moment, and whoever was
 *   freeze, and not all VolumeSnapshots are taken         killed cannot say whether the guest has been frozen all the time
 *   one says that it cannot be taken, and the machine     Failed: it goes on at once
 *   is suspended for it
 *   all are taken                                         thaw the guest
 *   all are ready                                         tell it in the content, then here, and let the machine go
 *
 * Pure: no clock, no I/O, no randomness.
 */
import type { VolumeSnapshot } from '../../api/core/volume-snapshot.ts';
import { type VmSnapshotConditions, vmiIs } from '../../api/kubevirt/condition-reasons.ts';
import { hindranceOf } from '../../api/kubevirt/exclusive-operations.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { isFinal } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { VirtualMachineSnapshotContent } from '../../api/kubevirt/kinds/vm-snapshot-content.ts';
import { FINALIZER_SNAPSHOT_SOURCE, FINALIZER_VM_SNAPSHOT, FINALIZER_VM_SNAPSHOT_CONTENT } from '../../api/kubevirt/names.ts';
import { isDeleting, type KubeObject, refOf } from '../../api/meta.ts';
import { parseGoDuration } from '../../base/go-duration.ts';
import { diffAsMergePatch } from '../../base/json.ts';
import { type Action, type Decision, nothingToDo } from '../../reconcile/decision.ts';
import { contentFor, volumeSnapshotFor } from './content-for.ts';
import { backupsOf, type MemoryStep, memoryStep } from './memory.ts';
import type { ObservedVmSnapshot } from './observed.ts';
import { isOnline, isPausedFor, standStillStep } from './stand-still.ts';
import { type Outcome, snapshotStatus } from './status.ts';

/** Stops writes of the guest, for a time that ends by itself. */
export type Freeze = { readonly do: 'freeze'; readonly because: string; readonly forSeconds: number };
/** Lets them go on; pauses the guest, and lets it run on. */
export type Tell = { readonly do: 'thaw' | 'pause' | 'unpause'; readonly because: string };
type SnapshotAction = Action | Freeze | Tell;
type SnapshotDecision = Decision<Freeze | Tell>;

const LOOK_MS = 250;
const WAIT_MS = 1_000;
const DEFAULT_DEADLINE_MS = 5 * 60_000;
/** The machine says so before its instance does; one whose memory is to be kept is suspended for that. */
const SUSPENSION_UNDER_WAY = ['Suspending', 'Resuming', 'Discarding'];

/** The rules above, for one snapshot. */
export function decideVmSnapshot(observed: ObservedVmSnapshot): SnapshotDecision {
  const { snapshot, vm, content, hasVolumeSnapshots } = observed;
  const { finalizers = [] } = snapshot.metadata;
  if (isDeleting(snapshot) && observed.isReplacingDisks) return { actions: [], lookAgainAfterMs: WAIT_MS };
  if (isDeleting(snapshot)) return letGo(observed);
  if (!finalizers.includes(FINALIZER_VM_SNAPSHOT))
    return {
      actions: [patchOf(snapshot, { metadata: { finalizers: [...finalizers, FINALIZER_VM_SNAPSHOT] } }, 'what it keeps goes first')],
    };
  if (snapshot.status?.phase === 'Succeeded') return { actions: release(observed) };
  if (snapshot.status?.phase === 'Failed')
    return { actions: [...release(observed), ...(content ? dropContent(content, 'its snapshot failed') : [])] };
  const leftMs = remainingMs(observed);
  if (leftMs <= 0) return fail(observed, { reason: 'DeadlineExceeded', message: lateMessage(observed) });
  if (!hasVolumeSnapshots)
    return fail(observed, {
      reason: 'NoVolumeSnapshots',
      message: 'this cluster has no VolumeSnapshots (snapshot.storage.k8s.io/v1): install a CSI driver with its snapshot controller',
    });
  const why = whyNotYet(observed);
  if (why !== undefined || !vm) return { actions: tell(observed, { is: 'waiting', message: why ?? '' }), lookAgainAfterMs: WAIT_MS };
  if (!isMarked(observed, vm)) return { actions: [mark(observed, vm)] };
  const memory = snapshot.spec.memory ? memoryStep(observed, vm) : undefined;
  if (memory && memory.do !== 'take') return prepareMemory(observed, vm, memory);
  if (!content)
    return {
      actions: [
        { do: 'create', object: contentFor(observed, vm), because: 'its machine is to be kept' },
        ...tell(observed, { is: 'begun' }),
      ],
    };
  return take(observed, content, leftMs);
}

function prepareMemory(observed: ObservedVmSnapshot, vm: VirtualMachine, step: MemoryStep): SnapshotDecision {
  switch (step.do) {
    case 'take':
      return nothingToDo;
    case 'tell':
      return { actions: tell(observed, { is: 'begun' }), lookAgainAfterMs: LOOK_MS };
    case 'wait':
      return { actions: tell(observed, { is: 'waiting', message: step.message }), lookAgainAfterMs: LOOK_MS };
    case 'fail':
      return fail(observed, { reason: 'MemoryNotKept', message: step.message });
    case 'suspend': {
      const { name } = observed.snapshot.metadata;
      const suspension = { phase: 'Suspending', instanceUID: step.instanceUID, snapshotName: name };
      const ask = { ...patchOf(vm, { status: { suspension } }, `snapshot ${name} keeps its memory`), subresource: 'status' } as const;
      return { actions: [ask], lookAgainAfterMs: LOOK_MS };
    }
  }
}

function letGo(observed: ObservedVmSnapshot): SnapshotDecision {
  const { snapshot, content } = observed;
  const isKept = snapshot.spec.deletionPolicy === 'Retain' && snapshot.status?.phase === 'Succeeded';
  const unmark = release(observed);
  if (unmark.length > 0) return { actions: [...thaw(observed), ...unmark] };
  if (content && !isKept) return { actions: dropContent(content, 'its snapshot is deleted'), lookAgainAfterMs: LOOK_MS };
  const rest = (snapshot.metadata.finalizers ?? []).filter((each) => each !== FINALIZER_VM_SNAPSHOT);
  if (rest.length === (snapshot.metadata.finalizers ?? []).length) return nothingToDo;
  return { actions: [patchOf(snapshot, { metadata: { finalizers: rest } }, 'what it kept is gone, or stays')] };
}

/** Deleted first, then let go: its VolumeSnapshots go with it, as what it owns. */
function dropContent(content: VirtualMachineSnapshotContent, because: string): Action[] {
  if (!isDeleting(content)) return [{ do: 'delete', target: refOf(content), because }];
  const rest = (content.metadata.finalizers ?? []).filter((each) => each !== FINALIZER_VM_SNAPSHOT_CONTENT);
  return [patchOf(content, { metadata: { finalizers: rest } }, because)];
}

function remainingMs({ snapshot, now }: ObservedVmSnapshot): number {
  const saidMs = parseGoDuration(snapshot.spec.failureDeadline ?? '') ?? DEFAULT_DEADLINE_MS;
  if (saidMs === 0) return Number.POSITIVE_INFINITY;
  return saidMs - (now - (Date.parse(snapshot.metadata.creationTimestamp ?? '') || now));
}

function lateMessage({ snapshot }: ObservedVmSnapshot): string {
  const seen = snapshot.status?.error?.message;
  return `it was not whole within ${snapshot.spec.failureDeadline ?? '5m'}${seen ? `: ${seen}` : ''}`;
}

/** What the snapshot waits for, in words. */
function whyNotYet(observed: ObservedVmSnapshot): string | undefined {
  const { snapshot, vm, vmi, claims, claimsInUse, content } = observed;
  const { name } = snapshot.spec.source;
  if (!vm) return `VirtualMachine ${name} does not exist`;
  const { snapshotInProgress, restoreInProgress } = vm.status ?? {};
  if (snapshotInProgress && snapshotInProgress !== snapshot.metadata.name)
    return `snapshot ${snapshotInProgress} of ${name} is being taken`;
  if (restoreInProgress) return `restore ${restoreInProgress} is changing ${name}`;
  if (content) return undefined; // what is kept is settled
  if (isDeleting(vm)) return `VirtualMachine ${name} is being deleted`;
  if (!snapshot.spec.memory && SUSPENSION_UNDER_WAY.some((each) => each === vm.status?.suspension?.phase))
    return `${name} is ${vm.status?.suspension?.phase}`;
  const unbound = [...claims].find(([, claim]) => claim?.status?.phase !== 'Bound');
  if (unbound) return `PVC ${unbound[0]} ${unbound[1] ? 'is not bound' : 'does not exist'}`;
  const [unfilled] = observed.unfilledClaims ?? [];
  if (unfilled !== undefined) return `PVC ${unfilled} is not filled yet`;
  if (vmi && !isFinal(vmi)) return vmi.status?.phase === 'Running' ? undefined : `${name} is on its way up`;
  const used = [...claims.keys()].find((each) => claimsInUse.has(each));
  return used && `PVC ${used} is still in use, though ${name} does not run`;
}

function isMarked({ snapshot }: ObservedVmSnapshot, vm: VirtualMachine): boolean {
  return vm.status?.snapshotInProgress === snapshot.metadata.name && (vm.metadata.finalizers ?? []).includes(FINALIZER_SNAPSHOT_SOURCE);
}

/**
 * One write at a time, each on condition that nobody else wrote: of two snapshots one comes first. The name before the finalizer: one that is over takes
 * away a finalizer that nobody's name is beside.
 */
function mark({ snapshot }: ObservedVmSnapshot, vm: VirtualMachine): Action {
  const { name } = snapshot.metadata;
  const because = `snapshot ${name} is being taken of it`;
  if (vm.status?.snapshotInProgress !== name)
    return { ...patchOf(vm, { status: { snapshotInProgress: name } }, because), subresource: 'status' };
  return patchOf(vm, { metadata: { finalizers: [...(vm.metadata.finalizers ?? []), FINALIZER_SNAPSHOT_SOURCE] } }, because);
}

/** The name goes first, too: whoever is killed in between finds the finalizer, and knows by it that there is something to do. */
function release({ snapshot, vm }: ObservedVmSnapshot): Action[] {
  if (!vm) return [];
  const { finalizers = [] } = vm.metadata;
  const because = `snapshot ${snapshot.metadata.name} is over`;
  const inProgress = vm.status?.snapshotInProgress;
  if (inProgress === snapshot.metadata.name)
    return [{ ...patchOf(vm, { status: { snapshotInProgress: null } }, because), subresource: 'status' }];
  if (inProgress || !finalizers.includes(FINALIZER_SNAPSHOT_SOURCE)) return [];
  return [patchOf(vm, { metadata: { finalizers: finalizers.filter((each) => each !== FINALIZER_SNAPSHOT_SOURCE) } }, because)];
}

/** The guest is paused for it, or goes on afterwards; undefined when neither is to be done. */
function standStill(observed: ObservedVmSnapshot, made: readonly (VolumeSnapshot | undefined)[]): SnapshotDecision | undefined {
  const { snapshot } = observed;
  const step = standStillStep(observed, made);
  switch (step.do) {
    case 'nothing':
      return undefined;
    case 'name': {
      const message = `${snapshot.spec.source.name} is paused while its disks are copied: it writes to them meanwhile`;
      return {
        actions: [{ ...pausing(snapshot, step.instanceUID), event: { type: 'Normal', reason: 'PausedForSnapshot', message } }],
        lookAgainAfterMs: 0,
      };
    }
    case 'discard':
      return { actions: discard(made, 'it is of a moment before the guest is paused'), lookAgainAfterMs: LOOK_MS };
    case 'pause':
      return { actions: [{ do: 'pause', because: 'its disks are copied' }], lookAgainAfterMs: LOOK_MS };
    case 'let run':
      return { actions: letRun(observed), lookAgainAfterMs: 0 };
    case 'say':
      return { actions: tell(observed, { is: 'waiting', message: step.message }), lookAgainAfterMs: WAIT_MS };
    case 'fail':
      return fail(observed, { reason: 'VolumeSnapshotFailed', message: step.message });
  }
}

function take(observed: ObservedVmSnapshot, content: VirtualMachineSnapshotContent, leftMs: number): SnapshotDecision {
  const { vmi, volumeSnapshots, quiesce } = observed;
  const all = backupsOf(content).map((backup) => ({ backup, made: volumeSnapshots.get(backup.volumeSnapshotName ?? '') }));
  const isTaken = all.every(({ made }) => made?.status?.creationTime !== undefined);
  const made = all.flatMap((each) => each.made ?? []);
  const still = standStill(
    observed,
    all.map((each) => each.made),
  );
  if (still) return still;
  const canFreeze = vmi !== undefined && isOnline(vmi) && vmiIs(vmi, 'AgentConnected') && !vmiIs(vmi, 'Paused');
  const hindrance = canFreeze && !isTaken && quiesce === 'untouched' ? hindranceOf('snapshot', vmi) : undefined;
  if (hindrance) return { actions: tell(observed, { is: 'waiting', message: hindrance.why }), lookAgainAfterMs: LOOK_MS };
  if (!isTaken && canFreeze && quiesce === 'untouched') {
    if (made.length > 0)
      return { actions: discard(made, 'nobody knows whether the guest has been frozen since'), lookAgainAfterMs: LOOK_MS };
    const forSeconds = Math.ceil(Math.min(leftMs, DEFAULT_DEADLINE_MS) / 1000);
    return { actions: [{ do: 'freeze', because: 'its disks are kept as they are now', forSeconds }], lookAgainAfterMs: 0 };
  }
  const missing = all.filter(({ made }) => !made);
  if (missing.length > 0) {
    const create = missing.map(
      ({ backup }) => ({ do: 'create', object: volumeSnapshotFor(content, backup), because: `it keeps ${backup.volumeName}` }) as const,
    );
    return { actions: [...tell(observed, { is: 'begun' }), ...create], lookAgainAfterMs: LOOK_MS };
  }
  if (all.every(({ made }) => made?.status?.readyToUse)) return finish(observed, content);
  const error = all.find(({ made }) => made?.status?.error?.message)?.made?.status?.error?.message;
  if (error !== undefined && content.spec.memory && observed.vm?.status?.suspension?.snapshotName !== undefined)
    return fail(observed, { reason: 'MemoryNotKept', message: error });
  const outcome: Outcome = error === undefined ? { is: 'begun' } : { is: 'waiting', message: error };
  return { actions: [...(isTaken ? thaw(observed) : []), ...tell(observed, outcome)], lookAgainAfterMs: LOOK_MS };
}

/** The guest goes on. Also for a process that was killed after it froze or paused it. */
function thaw(observed: ObservedVmSnapshot): SnapshotAction[] {
  const { quiesce, vmi } = observed;
  const isFrozen = quiesce === 'frozen' || (quiesce === 'untouched' && vmi?.status?.fsFreezeStatus === 'frozen');
  return [...letRun(observed), ...(isFrozen ? [{ do: 'thaw', because: 'its disks are kept' } as const] : [])];
}

/** Its name goes last: whoever is killed in between lets it run again. */
function letRun(observed: ObservedVmSnapshot): SnapshotAction[] {
  const { snapshot, vmi, hasPaused } = observed;
  if (snapshot.status?.pausedInstanceUID === undefined) return [];
  const isPaused = isPausedFor(observed) && (hasPaused || vmiIs(vmi, 'Paused'));
  const unpause = { do: 'unpause', because: 'its disks are copied, or are not to be any more' } as const;
  return [...(isPaused ? [unpause] : []), pausing(snapshot, null)];
}

function pausing(snapshot: KubeObject, pausedInstanceUID: string | null): Extract<Action, { do: 'patch' }> {
  const because = pausedInstanceUID === null ? 'its guest resumes' : 'its guest is to stand still while its disks are copied';
  return { ...patchOf(snapshot, { status: { pausedInstanceUID } }, because), subresource: 'status' };
}

function discard(made: readonly (VolumeSnapshot | undefined)[], because: string): Action[] {
  return made.flatMap((each) => (each && !isDeleting(each) ? [{ do: 'delete', target: refOf(each), because }] : []));
}

function finish(observed: ObservedVmSnapshot, content: VirtualMachineSnapshotContent): SnapshotDecision {
  const { volumeSnapshots, snapshot } = observed;
  const each = [...volumeSnapshots].map(([volumeSnapshotName, made]) => {
    const { creationTime, readyToUse } = made?.status ?? {};
    return { volumeSnapshotName, ...(creationTime !== undefined && { creationTime }), ...(readyToUse !== undefined && { readyToUse }) };
  });
  const done = snapshotStatus(observed, { is: 'whole' });
  const status = diffAsMergePatch(content.status ?? {}, { creationTime: done.creationTime, readyToUse: true, volumeSnapshotStatus: each });
  const because = 'all of it is whole';
  const inContent: SnapshotAction[] = status === undefined ? [] : [{ ...patchOf(content, { status }, because), subresource: 'status' }];
  const patch = { status: diffAsMergePatch(snapshot.status ?? {}, done) };
  const event = { type: 'Normal', reason: 'VirtualMachineSnapshotSucceeded', message: `${snapshot.spec.source.name} is kept` } as const;
  const here: SnapshotAction = { ...patchOf(snapshot, patch, because), subresource: 'status', event };
  return { actions: [...thaw(observed), ...inContent, here] };
}

function fail(
  observed: ObservedVmSnapshot,
  { reason, message }: { readonly reason: VmSnapshotConditions['Failure']; readonly message: string },
): SnapshotDecision {
  const { snapshot, content } = observed;
  // A machine that is suspended for it would else be kept again: that it failed is told first.
  if (content && !content.spec.memory) return { actions: [...thaw(observed), ...dropContent(content, message)], lookAgainAfterMs: LOOK_MS };
  const status = diffAsMergePatch(snapshot.status ?? {}, snapshotStatus(observed, { is: 'failed', reason, message }));
  const event = { type: 'Warning', reason: 'VirtualMachineSnapshotFailed', message } as const;
  return { actions: [{ ...patchOf(snapshot, { status }, message), subresource: 'status', event }], lookAgainAfterMs: LOOK_MS };
}

function tell(observed: ObservedVmSnapshot, outcome: Outcome): Action[] {
  const { snapshot } = observed;
  const status = diffAsMergePatch(snapshot.status ?? {}, snapshotStatus(observed, outcome));
  if (status === undefined) return [];
  return [{ ...patchOf(snapshot, { status }, outcome.is === 'waiting' ? outcome.message : 'it is being taken'), subresource: 'status' }];
}

/** A patch that holds only for the object as we saw it. */
function patchOf(object: KubeObject, patch: object, because: string): Extract<Action, { do: 'patch' }> {
  return { do: 'patch', target: refOf(object), patch, resourceVersion: object.metadata.resourceVersion, because };
}
