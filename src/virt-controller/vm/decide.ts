/**
 * What should happen to one VirtualMachine, given everything we can see.
 *
 *   RunStrategy      no VMI                             VMI not final       VMI Succeeded        VMI Failed
 *   Always           create, after back-off             leave               delete               delete
 *   RerunOnFailure   create if new to it or requested,  leave               delete               delete, and request a start
 *                    after back-off
 *   Once             create                             leave               leave                leave
 *   Manual           create if requested                leave               leave                leave
 *   Halted           leave; a start request sets Always delete              delete               delete
 *
 * A Stop request for the current VMI deletes it under Always, RerunOnFailure and Manual.
 * Before that:  VM is deleting: delete the VMI and wait for its end, then let the VM go; with `--cascade=orphan` let it go at once.
 *               VM without our finalizer: add it.  An instance type or preference without its copy: make the copy, and tell it in the
 *               status before anything is made of it, so that a VM stays what it is when the type is edited or gone; or write both into the
 *               template, where the installation wants it so (write-out-choices.ts).  A VMI of our name without controller: adopt it.
 *               A DataVolume that it has a template for and that is not there: make it; no VMI is made before all of them are filled.
 * With it:      before a deletion the status is written first, so that what a next pass must know (a start request, a failure count)
 *               is safe before the VMI that told us is gone; after a creation it is written once, with the VMI in it.
 *               After a deletion that somebody asked for the next VMI is made about a second later: `kubectl delete` waits for the object
 *               to be gone, and does not notice when there is another one of that name the next time it looks.
 *               A machine that is suspended, or on its way, follows suspension.ts before its run strategy.
 *               While a restore is changing the VM nothing is made of it: it may be half of what it was. Nor while a snapshot is taken of one that
 *               is suspended.
 *               A final VMI loses our finalizer; a VMI is made only when no object of that name exists.
 *               Each start has a revision: that of an earlier one, if the VM is still the same but for whether it runs, or a new one in its
 *               place. At rest a revision that no longer fits is removed, so that the next start need not.
 *               Hotplugged volumes of the template are brought to the VMI (sync-hotplug.ts).
 *               A dump of its memory follows memory-dump.ts, whatever the run strategy says.
 *               A VMI that lags behind the VM's generation, but not behind its template, is told the new generation.
 *
 * Pure: no clock, no I/O, no randomness. `observe.ts` gathers the input, `reconcile/` performs the output.
 */
import type { ControllerRevision } from '../../api/core/controller-revision.ts';
import { CHOICE_NAMES } from '../../api/kubevirt/instancetype/choices-table.ts';
import { missingCopies, refChanges, revisionNameOf } from '../../api/kubevirt/instancetype/chosen.ts';
import { choiceAnnotations, expandVm } from '../../api/kubevirt/instancetype/expand-vm.ts';
import { runStrategyOf, type VirtualMachine, type VmStatus } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { isFinal, type VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ANNOTATION_VM_GENERATION, FINALIZER_VM_CONTROLLER } from '../../api/kubevirt/names.ts';
import { conditionOf, isDeleting, type KubeObject, refOf } from '../../api/meta.ts';
import { diffAsMergePatch } from '../../base/json.ts';
import { adopt } from '../../reconcile/decide-owner.ts';
import type { Action, Decision, EventToRecord } from '../../reconcile/decision.ts';
import { failedDataVolume, missingDataVolumes, unfilledDataVolume } from './data-volumes.ts';
import { heartbeatCheckMs } from './heartbeat.ts';
import { choiceFailureOf, isRerunDue, obstacleOf, requestOf, startWasRequested, stopWasRequested } from './intent.ts';
import { pauseAfterDeletionMs } from './last-shutdown.ts';
import { memoryDumpActions, syncDumpTemplate } from './memory-dump.ts';
import type { ObservedVm } from './observed.ts';
import { generationOf, isBehindInNameOnly, isRevisionOf, revisionFor, revisionOf } from './revision.ts';
import { backoffRemainingMs } from './start-failure.ts';
import { deriveVmStatus, type Next } from './status.ts';
import { isFormer, resumedVmi, suspensionActions, suspensionAfter } from './suspension.ts';
import { syncHotplug } from './sync-hotplug.ts';
import { vmiFor } from './vmi-for.ts';
import { isWrittenOut, writeOut } from './write-out-choices.ts';

/** One step for the instance: what, why, and when to look again if it is too early. */
type Step = { readonly next: Next; readonly because: string; readonly lookAgainAfterMs?: number };

const LEAVE: Step = { next: 'leave', because: '' };

/** The rules above, for one VM. */
export function decideVm(observed: ObservedVm): Decision {
  const { vm, stranger, mayAdopt } = observed;
  if (isDeleting(vm)) return decideDeleting(observed);
  if (!hasOurFinalizer(vm)) return { actions: [addFinalizer(vm)] };
  const keeping = isWrittenOut(observed) ? writeOut(observed) : keepChoices(observed);
  if (keeping.length > 0) return { actions: keeping };
  if (stranger && mayAdopt) return { actions: [adoptInstance(vm, stranger)] };
  const missing = missingDataVolumes(observed);
  if (missing.length > 0) return { actions: missing.map((object) => ({ do: 'create', object, because: 'the VM has a template for it' })) };
  if (runStrategyOf(vm) === 'Halted' && startWasRequested(vm)) return { actions: [startForGood(vm)] };
  const dumping = syncDumpTemplate(observed);
  if (dumping.length > 0) return { actions: dumping };
  return perform(observed, stepFor(observed));
}

/** The VM goes last: it stays until its instance is gone, unless its owner asked to leave the instance behind. */
function decideDeleting(observed: ObservedVm): Decision {
  const { vm, vmi } = observed;
  const isOrphaning = vm.metadata.finalizers?.includes('orphan') ?? false;
  if (vmi && !isOrphaning) return perform(observed, remove(vmi, 'VM is being deleted'));
  if (!hasOurFinalizer(vm)) return perform(observed, LEAVE);
  const because = isOrphaning ? 'VM is being deleted, its VMI is to stay' : 'VM is being deleted and has no VMI';
  return { actions: [dropFinalizer(vm, because)] };
}

function stepFor(observed: ObservedVm): Step {
  if (obstacleOf(observed)) return LEAVE;
  const suspended = stepOfSuspension(observed);
  if (suspended) return suspended;
  switch (runStrategyOf(observed.vm)) {
    case 'Always':
      return keepRunning(observed);
    case 'RerunOnFailure':
      return rerunOnFailure(observed);
    case 'Once':
      return observed.vmi ? LEAVE : { next: 'create', because: 'runStrategy Once' };
    case 'Manual':
      return obeyRequests(observed);
    case 'Halted':
      return observed.vmi ? remove(observed.vmi, 'runStrategy Halted') : LEAVE;
  }
}

/** Undefined where the run strategy has its say. A machine that is stopped while it is being saved is stopped: virt-handler lets go of it first. */
function stepOfSuspension(observed: ObservedVm): Step | undefined {
  const { vm, vmi } = observed;
  const after = suspensionAfter(observed);
  switch (after?.phase) {
    case 'Suspended':
      return vmi && isFinal(vmi) ? remove(vmi, 'its machine is suspended') : LEAVE;
    case 'Resuming':
      if (!vmi) return { next: 'create', because: 'resume requested' };
      if (!isFormer(vmi)) return undefined;
      return isFinal(vmi) ? remove(vmi, 'another instance resumes with its memory') : LEAVE;
    default:
      // Written first: what comes after an end is decided without it.
      return vm.status?.suspension && !after ? LEAVE : undefined;
  }
}

function keepRunning(observed: ObservedVm): Step {
  const { vmi } = observed;
  if (!vmi) return start(observed, 'runStrategy Always');
  if (stopWasRequested(observed)) return remove(vmi, 'restart requested');
  return isFinal(vmi) ? remove(vmi, `restarting: VMI ${vmi.status?.phase}`) : LEAVE;
}

function rerunOnFailure(observed: ObservedVm): Step {
  const { vm, vmi } = observed;
  if (!vmi) return isRerunDue(vm) ? start(observed, startWasRequested(vm) ? 'start requested' : 'runStrategy RerunOnFailure') : LEAVE;
  if (stopWasRequested(observed)) return remove(vmi, 'stop requested');
  return isFinal(vmi) ? remove(vmi, `VMI ${vmi.status?.phase}`) : LEAVE;
}

function obeyRequests(observed: ObservedVm): Step {
  const { vm, vmi } = observed;
  if (vmi) return stopWasRequested(observed) ? remove(vmi, 'stop requested') : LEAVE;
  return startWasRequested(vm) ? { next: 'create', because: 'start requested' } : LEAVE;
}

function start({ vm, now }: ObservedVm, because: string): Step {
  const waitMs = backoffRemainingMs(vm, now);
  return waitMs > 0 ? { ...LEAVE, lookAgainAfterMs: waitMs } : { next: 'create', because };
}

function remove(vmi: VirtualMachineInstance, because: string): Step {
  return isDeleting(vmi) ? LEAVE : { next: 'delete', because };
}

/** A copy that is there already was made by a pass that did not come to its end. */
function keepChoices({ vm, chosen = {}, copies = [] }: ObservedVm): Action[] {
  const refs = refChanges(vm, chosen);
  if (Object.keys(refs).length === 0) return [];
  const because = 'what the VM is made with must not change under it';
  return [
    ...missingCopies(vm, chosen, copies).map((object) => ({ do: 'create', object, because }) as const),
    { ...patchOf(vm, { status: refs }, because), subresource: 'status' },
  ];
}

function perform(observed: ObservedVm, { next, because, lookAgainAfterMs = heartbeatCheckMs(observed) }: Step): Decision {
  const { vm, vmi } = observed;
  const mayStart = !isBeingChanged(vm) && !choiceFailureOf(observed) && unfilledDataVolume(observed) === undefined;
  if (next === 'create' && !mayStart) return { actions: writeStatus(observed, 'leave') };
  if (next === 'create') {
    const waitMs = pauseAfterDeletionMs(observed);
    return waitMs > 0 ? { actions: writeStatus(observed, 'create'), lookAgainAfterMs: waitMs } : { actions: begin(observed, because) };
  }
  const actions = [
    ...suspensionActions(observed),
    ...memoryDumpActions(observed),
    ...writeStatus(observed, next),
    ...dropFinalizerOfEnded(vmi),
  ];
  if (next === 'delete' && vmi) actions.push(destroy(vm, vmi, because));
  if (next === 'leave') actions.push(...syncHotplug(observed), ...annotateGeneration(observed), ...forgetAtRest(observed));
  return { actions, ...(lookAgainAfterMs !== undefined && { lookAgainAfterMs }) };
}

/** A restore is changing it; or a snapshot keeps its memory, which must stay of one moment with its disks. */
function isBeingChanged({ status }: VirtualMachine): boolean {
  return Boolean(status?.restoreInProgress || (status?.suspension && status.snapshotInProgress));
}

/** A refused create is told before it is tried again; otherwise the status is written once, when there is an instance to tell of. */
function begin(observed: ObservedVm, because: string): Action[] {
  const { vm, revisions = [], chosen = {}, createError, now } = observed;
  const expansion = expandVm(vm, chosen);
  const whole = 'vm' in expansion ? expansion.vm : vm;
  const earlier = revisions.find((each) => isRevisionOf(vm, each));
  const revision = earlier ?? revisionFor(vm);
  const older = revisions.filter((each) => each !== earlier);
  const resumed = vm.status?.suspension ? resumedVmi(observed) : undefined;
  const vmi =
    resumed ??
    vmiFor(whole, {
      isPaused: requestOf(vm)?.data?.['paused'] === 'true',
      revisionName: revision.metadata.name,
      annotations: choiceAnnotations(chosen),
      now,
    });
  const event = { type: 'Normal', reason: 'SuccessfulCreate', message: `Created virtual machine: ${vm.metadata.name}` } as const;
  return [
    ...(createError === undefined ? [] : writeStatus(observed, 'create')),
    ...(earlier || resumed ? [] : [{ do: 'create', object: revision, because } as const]),
    { do: 'create', object: vmi, because, event },
    ...(createError === undefined ? writeStatus({ ...observed, vmi, revisions: resumed ? revisions : [revision] }, 'leave') : []),
    ...forget(resumed ? [] : older, 'a newer start has its own revision'),
  ];
}

/** Only a newer generation with the same template: what the guest runs is then what is wanted. */
function annotateGeneration({ vm, vmi, revisions, copies }: ObservedVm): Action[] {
  const revision = vmi && revisionOf(vmi, revisions);
  if (!vmi || !revision || isFinal(vmi) || isDeleting(vmi) || !isBehindInNameOnly(vm, vmi, revision, copies)) return [];
  const annotations = { [ANNOTATION_VM_GENERATION]: String(generationOf(vm)) };
  return [patchOf(vmi, { metadata: { annotations } }, `the template is the same in generation ${generationOf(vm)}`)];
}

/** What an instance was started from is asked for as long as it is there. */
function forgetAtRest({ vm, vmi, stranger, revisions = [], copies = [] }: ObservedVm): Action[] {
  if (vmi || stranger || isDeleting(vm) || vm.status?.suspension) return [];
  const inForce = CHOICE_NAMES.map((choice) => revisionNameOf(vm, choice));
  const stale = [
    ...revisions.filter((each) => !isRevisionOf(vm, each)),
    ...copies.filter(({ metadata }) => !inForce.includes(metadata.name)),
  ];
  return forget(stale, 'the VM has changed since, and nothing runs of it');
}

function forget(revisions: readonly ControllerRevision[], because: string): Action[] {
  return revisions.map((each) => ({ do: 'delete', target: refOf(each), because }));
}

function writeStatus(observed: ObservedVm, next: Next): Action[] {
  const { vm } = observed;
  const status = deriveVmStatus(observed, next);
  const patch = diffAsMergePatch(vm.status ?? {}, status);
  if (patch === undefined) return [];
  const because = `status is ${status.printableStatus}`;
  const event = status.printableStatus === vm.status?.printableStatus ? undefined : failedImport(observed, status);
  // Conditional: lists are replaced whole, and virt-api adds requests to one of them.
  return [{ ...patchOf(vm, { status: patch }, because), subresource: 'status', ...(event && { event }) }];
}

function failedImport(observed: ObservedVm, { printableStatus }: VmStatus): EventToRecord | undefined {
  const failed = printableStatus === 'DataVolumeError' ? failedDataVolume(observed) : undefined;
  if (!failed) return undefined;
  const message = `DataVolume ${failed.metadata.name}: ${conditionOf(failed.status?.conditions, 'Running')?.message ?? 'it failed'}`;
  return { type: 'Warning', reason: 'FailedDataVolumeImport', message };
}

/** Our finalizer on the instance makes sure that we see how it ended; now we have. */
function dropFinalizerOfEnded(vmi: VirtualMachineInstance | undefined): Action[] {
  return vmi && isFinal(vmi) && hasOurFinalizer(vmi) ? [dropFinalizer(vmi, `VMI ${vmi.status?.phase}`)] : [];
}

function destroy(vm: VirtualMachine, vmi: VirtualMachineInstance, because: string): Action {
  const message = `Deleted virtual machine: ${vm.metadata.name}`;
  return { do: 'delete', target: refOf(vmi), because, event: { type: 'Normal', reason: 'SuccessfulDelete', message } };
}

/** `start --paused` of a halted VM is a request, not an edit: this is the edit that follows from it. */
function startForGood(vm: VirtualMachine): Action {
  const spec = vm.spec.running === undefined ? { runStrategy: 'Always' } : { running: true };
  return patchOf(vm, { spec }, 'start requested');
}

/** The generation that it was made from is that of another VM, and says nothing about this one. */
function adoptInstance(vm: VirtualMachine, vmi: VirtualMachineInstance): Action {
  const others = (vmi.metadata.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER_VM_CONTROLLER);
  return adopt(vm, vmi, { finalizers: [FINALIZER_VM_CONTROLLER, ...others], annotations: { [ANNOTATION_VM_GENERATION]: null } });
}

function addFinalizer(vm: VirtualMachine): Action {
  return patchOf(vm, { metadata: { finalizers: [...(vm.metadata.finalizers ?? []), FINALIZER_VM_CONTROLLER] } }, 'VM must outlive its VMI');
}

function dropFinalizer(object: KubeObject, because: string): Action {
  const finalizers = object.metadata.finalizers?.filter((finalizer) => finalizer !== FINALIZER_VM_CONTROLLER);
  return patchOf(object, { metadata: { finalizers } }, because);
}

function hasOurFinalizer({ metadata }: KubeObject): boolean {
  return metadata.finalizers?.includes(FINALIZER_VM_CONTROLLER) ?? false;
}

/** A patch that holds only for the object as we saw it. */
function patchOf(object: KubeObject, patch: object, because: string): Extract<Action, { do: 'patch' }> {
  return { do: 'patch', target: refOf(object), patch, resourceVersion: object.metadata.resourceVersion, because };
}
