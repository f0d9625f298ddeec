/**
 * A machine that is suspended, or on its way into it or out of it: what follows from its phase and its instance. First match wins.
 *
 *   phase        instance                              what follows
 *   Suspending   another one, none, ended unsaved      not suspended: what was made for it goes
 *   Suspending   ended, saved                          Suspended, with what was saved; the instance is then deleted like any that has ended
 *   Suspending   says that saving failed               not suspended: what was made for it goes, the guest runs on
 *   Suspending   runs, was not told yet                keep what it is, make the PVC, tell it
 *   Suspended    there                                 delete it when it has ended
 *   Suspended    none, and the snapshot that it was    Resuming
 *                suspended for is over
 *   Suspended    none                                  nothing, whatever the run strategy says
 *   Resuming     the saved one, or of a failed try     wait until it is gone: it says nothing of the one that is to come
 *   Resuming     none                                  make it of what was kept, not of the template
 *   Resuming     its guest has gone on                 not suspended: memory that was used once is deleted
 *   Resuming     ended before that                     Suspended again, with the reason
 *   Discarding   any                                   what was saved goes
 *
 * "Its guest has gone on" is said by virt-handler, on condition that nobody has written the instance since, before the guest runs: memory is never
 * used twice. The PVC goes before the status forgets it. Pure.
 */
import { CONTROLLER_REVISIONS, type ControllerRevision } from '../../api/core/controller-revision.ts';
import { shortened } from '../../api/core/short-name.ts';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import type { VirtualMachine, VmStatus } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { isFinal, type VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { LABEL_CREATED_BY, LABEL_VM_REVISION } from '../../api/kubevirt/names.ts';
import { guestMemoryBytesOf } from '../../api/kubevirt/vmi-size.ts';
import { controllerReferenceTo, isDeleting, refOf } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/resource.ts';
import { isObject } from '../../base/json.ts';
import { sha1Hex } from '../../base/sha1.ts';
import { timestamp } from '../../base/timestamp.ts';
import type { Action, EventToRecord } from '../../reconcile/decision.ts';
import { firstStatus } from '../vmi/status.ts';
import type { ObservedVm } from './observed.ts';

type Suspension = NonNullable<VmStatus['suspension']>;

/** Video memory, firmware, the state of devices, and what QEMU adds to each page. */
const OTHER_BYTES = 96 * 2 ** 20;
const MIB = 2 ** 20;

/** What the suspension of this machine is after what is seen; undefined when it has none any more. */
export function suspensionAfter(observed: ObservedVm): Suspension | undefined {
  const { vm, vmi, now } = observed;
  const suspension = vm.status?.suspension;
  switch (suspension?.phase) {
    case undefined:
    case 'Discarding':
      return undefined;
    case 'Suspended':
      return isOverFor(observed, suspension) ? goingOn(suspension) : suspension;
    case 'Suspending': {
      if (!vmi || vmi.metadata.uid !== suspension.instanceUID) return undefined;
      const { phase, claimName, digest, bytes, guestAgent } = vmi.status?.suspension ?? {};
      const { snapshotName } = suspension;
      if (isFinal(vmi) && phase === 'Saved')
        return {
          ...{ phase: 'Suspended', claimName, digest, bytes, guestAgent, savedTimestamp: timestamp(now) },
          ...(snapshotName !== undefined && { snapshotName }),
        };
      return isFinal(vmi) || phase === 'Failed' ? undefined : suspension;
    }
    case 'Resuming': {
      if (!vmi || isFormer(vmi)) return suspension;
      if (vmi.status?.suspension?.phase !== 'Resuming') return undefined;
      return isFinal(vmi) ? { ...suspension, phase: 'Suspended', message: whyEnded(vmi) } : suspension;
    }
  }
}

/** Nobody resumes a machine that somebody suspended, but one that was suspended for a snapshot has not been asked whether it wants to be. */
function isOverFor({ vm, vmi }: ObservedVm, { snapshotName }: Suspension): boolean {
  return snapshotName !== undefined && vm.status?.snapshotInProgress !== snapshotName && !vmi;
}

function goingOn({ snapshotName: _, ...suspension }: Suspension): Suspension {
  return { ...suspension, phase: 'Resuming' };
}

/** The instance that was saved, or one that could not go on, on its way out. A node may take long to let go of it, and a machine may be resumed meanwhile. */
export function isFormer(vmi: VirtualMachineInstance): boolean {
  const phase = vmi.status?.suspension?.phase;
  return phase === 'Saved' || (phase === 'Resuming' && isFinal(vmi) && isDeleting(vmi));
}

/** What is to be done for it, before the status is written; undefined when it is a machine like any other. */
export function suspensionActions(observed: ObservedVm): readonly Action[] {
  const { vm, vmi } = observed;
  const before = vm.status?.suspension;
  if (!before) return untell(vmi);
  const after = suspensionAfter(observed);
  if (!after) return [...removeMemory(observed), ...untell(vmi), ...told(observed)];
  if (after.phase === 'Suspending' && vmi && !vmi.status?.suspension) return prepare(observed, vmi);
  return told(observed);
}

/** The instance that goes on with what was saved; undefined when what it was made of is gone. */
export function resumedVmi({ vm, revisions = [], kept, now }: ObservedVm): VirtualMachineInstance | undefined {
  const instance = instanceIn(kept);
  const { claimName, digest, bytes, origin } = vm.status?.suspension ?? {};
  if (!instance) return undefined;
  const revision = revisions.find(({ metadata }) => metadata.name === instance.status?.virtualMachineRevisionName);
  return {
    ...instance,
    status: {
      ...firstStatus(timestamp(now)),
      ...(revision && { virtualMachineRevisionName: revision.metadata.name }),
      suspension: { phase: 'Resuming', claimName, digest, bytes, ...(origin && { origin }) },
    },
  };
}

/** True for the record of an instance that is suspended; other records are those of starts. */
export function isKeptInstance({ metadata }: ControllerRevision): boolean {
  return metadata.name.startsWith(KEPT);
}

/** The PVC of this machine's memory. Each instance that is saved has its own: the one that the next went on from stays until that has ended. */
export function memoryClaimNameOf({ metadata: { name }, status }: VirtualMachine): string {
  const { claimName, instanceUID = '' } = status?.suspension ?? {};
  return claimName ?? shortened(`${name.slice(0, 40)}-memory-${sha1Hex(instanceUID).slice(0, 8)}`);
}

const KEPT = 'suspended-vm-';

/** First what it is, then where its memory goes, then the word to virt-handler: each pass goes on where the last one ended. */
function prepare({ vm, kept, memoryClaim, now }: ObservedVm, vmi: VirtualMachineInstance): Action[] {
  const because = 'the machine is to be suspended';
  const claim = memoryClaimFor(vm, vmi);
  const suspension = { phase: 'Saving', claimName: claim.metadata.name, requestedTimestamp: timestamp(now) };
  return [
    ...(kept && kept.metadata.name !== keptNameOf(vm, vmi) ? [{ do: 'delete', target: refOf(kept), because } as const] : []),
    ...(kept?.metadata.name === keptNameOf(vm, vmi) ? [] : [{ do: 'create', object: keptFor(vm, vmi), because } as const]),
    ...(memoryClaim ? [] : [{ do: 'create', object: claim, because } as const]),
    { do: 'patch', target: refOf(vmi), patch: { status: { suspension } }, resourceVersion: vmi.metadata.resourceVersion ?? '', because },
  ];
}

/** Everything that the next one is made of; its uid and what happened to it are its own. */
function keptFor(vm: VirtualMachine, vmi: VirtualMachineInstance): ControllerRevision {
  const { name, namespace, labels, annotations, ownerReferences, finalizers } = vmi.metadata;
  const { 'kubevirt.io/nodeName': _node, ...ownLabels } = labels ?? {};
  return recordOf(vm, vmi.metadata.uid ?? '', {
    apiVersion: vmi.apiVersion,
    kind: vmi.kind,
    metadata: { name, namespace, labels: ownLabels, annotations, ownerReferences, finalizers },
    spec: vmi.spec,
    status: { virtualMachineRevisionName: vmi.status?.virtualMachineRevisionName },
  });
}

/** The record of an instance of this machine; `seed` is what tells it from others: the uid of what was saved, or of what brought it back. */
export function recordOf(vm: VirtualMachine, seed: string, data: object): ControllerRevision {
  return {
    apiVersion: apiVersionOf(CONTROLLER_REVISIONS),
    kind: 'ControllerRevision',
    metadata: {
      name: recordNameOf(vm, seed),
      namespace: vm.metadata.namespace,
      labels: { [LABEL_VM_REVISION]: '' },
      ownerReferences: [controllerReferenceTo(vm)],
    },
    revision: 1,
    data,
  };
}

export function recordNameOf({ metadata: { uid } }: VirtualMachine, seed: string): string {
  return `${KEPT}${uid}-${sha1Hex(seed).slice(0, 8)}`;
}

function keptNameOf(vm: VirtualMachine, vmi: VirtualMachineInstance): string {
  return recordNameOf(vm, vmi.metadata.uid ?? '');
}

/** The instance that a record is of. */
export function instanceIn(kept: ControllerRevision | undefined): VirtualMachineInstance | undefined {
  return isObject(kept?.data) ? (kept.data as VirtualMachineInstance) : undefined; // as keptFor wrote it
}

function memoryClaimFor(vm: VirtualMachine, vmi: VirtualMachineInstance): PersistentVolumeClaim {
  const bytes = Math.ceil(((guestMemoryBytesOf(vmi.spec) ?? 2 ** 30) * 1.02 + OTHER_BYTES) / MIB) * MIB;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: memoryClaimNameOf(vm),
      namespace: vm.metadata.namespace,
      labels: { [LABEL_CREATED_BY]: vm.metadata.uid ?? '' },
      ownerReferences: [controllerReferenceTo(vm)],
    },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: String(bytes) } } },
  };
}

function removeMemory({ memoryClaim, kept }: ObservedVm): Action[] {
  const because = 'nothing is saved of the machine any more';
  return [
    ...(memoryClaim && !isDeleting(memoryClaim) ? [{ do: 'delete', target: refOf(memoryClaim), because } as const] : []),
    ...(kept ? [{ do: 'delete', target: refOf(kept), because } as const] : []),
  ];
}

/** The instance may be saved another time. Not before its guest runs on: virt-handler knows by this alone that it has to. */
function untell(vmi: VirtualMachineInstance | undefined): Action[] {
  const { phase, startTimestamp } = vmi?.status?.suspension ?? {};
  if (!vmi || phase !== 'Failed' || startTimestamp !== undefined || isFinal(vmi)) return [];
  const { resourceVersion = '' } = vmi.metadata;
  return [{ do: 'patch', target: refOf(vmi), patch: { status: { suspension: null } }, resourceVersion, because: 'its machine knows it' }];
}

/** Events of changes; each is seen once, because the status that follows is written right after. */
function told(observed: ObservedVm): Action[] {
  const event = eventOf(observed);
  return event ? [{ do: 'record', because: event.message, event }] : [];
}

function eventOf(observed: ObservedVm): EventToRecord | undefined {
  const { vm, vmi } = observed;
  const [before, after] = [vm.status?.suspension?.phase, suspensionAfter(observed)];
  if (before === after?.phase || (before === 'Suspended' && after)) return undefined;
  if (before === 'Suspending' && after)
    return normal('SuccessfulSuspended', `The machine is suspended: its memory is on PVC ${after.claimName}.`);
  if (before === 'Suspending') return warning('SuspendFailed', `The machine is not suspended: ${whyNotSaved(observed)}.`);
  if (before === 'Resuming' && after) return warning('ResumeFailed', `The machine stays suspended: ${after.message}.`);
  if (before === 'Resuming' && vmi) return normal('SuccessfulResumed', 'The machine has resumed where it was suspended.');
  return normal('SuccessfulDelete', 'The saved memory of the machine was thrown away.');
}

/** Why a machine that was to be suspended is not. */
export function whyNotSaved({ vm, vmi }: Pick<ObservedVm, 'vm' | 'vmi'>): string {
  if (!vmi || vmi.metadata.uid !== vm.status?.suspension?.instanceUID) return 'the instance is gone';
  const { phase, message } = vmi.status?.suspension ?? {};
  return phase === 'Failed' && message ? message : 'the instance has ended before its memory was saved';
}

/** The launcher says why it refuses in one line of many. */
function whyEnded({ status }: VirtualMachineInstance): string {
  const { message } = status?.suspension ?? {};
  return (
    /RESUME_REFUSED\].*? why: (.+?) \/ fix:/.exec(message ?? '')?.[1] ??
    message ??
    `the instance ended before its guest resumed (${status?.reason ?? status?.phase})`
  );
}

function normal(reason: EventToRecord['reason'], message: string): EventToRecord {
  return { type: 'Normal', reason, message };
}

function warning(reason: EventToRecord['reason'], message: string): EventToRecord {
  return { type: 'Warning', reason, message };
}
