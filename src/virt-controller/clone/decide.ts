/**
 * What should happen to one VirtualMachineClone. First match wins.
 *
 *   when                                              then
 *   deleting                                          nothing: what was made for it goes with it, but for the new machine
 *   over                                              delete the restore, and the snapshot when all PVCs of the new machine have their volumes
 *   the source is not there                           wait
 *   a machine of the target's name is there           fail: it is not touched
 *   no snapshot                                       take one
 *   the snapshot or the restore failed                fail
 *   the snapshot is not whole                         wait
 *   no restore                                        make it: the new machine is made by it, in one write, as the clone wants it
 *   the restore is complete                           it is over
 *
 * Nothing is remembered but in objects, whose names follow from the clone. Pure: no clock, no I/O, no randomness.
 */
import type { VmCloneConditions } from '../../api/kubevirt/condition-reasons.ts';
import { withCondition } from '../../api/kubevirt/conditions.ts';
import { targetNameOf, type VirtualMachineClone, type VmCloneStatus } from '../../api/kubevirt/kinds/vm-clone.ts';
import { type VirtualMachineRestore, VM_RESTORES } from '../../api/kubevirt/kinds/vm-restore.ts';
import { type VirtualMachineSnapshot, VM_SNAPSHOTS } from '../../api/kubevirt/kinds/vm-snapshot.ts';
import { ANNOTATION_LAST_RESTORE } from '../../api/kubevirt/names.ts';
import { conditionOf, controllerReferenceTo, isControlledBy, isDeleting, type KubeObject, refOf } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/resource.ts';
import { diffAsMergePatch } from '../../base/json.ts';
import { timestamp } from '../../base/timestamp.ts';
import { type Action, type Decision, nothingToDo } from '../../reconcile/decision.ts';
import type { ObservedVmClone } from './observed.ts';

const LOOK_MS = 500;
const WAIT_MS = 5_000;
const KUBEVIRT = 'kubevirt.io';

type Phase = 'SnapshotInProgress' | 'RestoreInProgress' | 'CreatingTargetVM' | 'Succeeded' | 'Failed' | 'Unknown';

/** The snapshot that is taken for a clone of a machine; of a clone of a snapshot, that one. */
export function snapshotNameOf({ metadata, spec: { source } }: VirtualMachineClone): string {
  return source.kind === 'VirtualMachineSnapshot' ? source.name : `tmp-snapshot-${metadata.uid}`;
}

export function restoreNameOf({ metadata }: VirtualMachineClone): string {
  return `tmp-restore-${metadata.uid}`;
}

/** The rules above, for one clone. */
export function decideVmClone(observed: ObservedVmClone): Decision {
  const { clone, source, snapshot, restore } = observed;
  if (isDeleting(clone)) return nothingToDo;
  if (clone.status?.phase === 'Succeeded' || clone.status?.phase === 'Failed') return clearAway(observed);
  const isOfMachine = clone.spec.source.kind === 'VirtualMachine';
  if (isOfMachine ? !source && !snapshot : !snapshot)
    return wait(observed, 'Unknown', `${clone.spec.source.kind} ${clone.spec.source.name} is not there`, WAIT_MS);
  const taken = foreignTarget(observed);
  if (taken !== undefined) return fail(observed, taken);
  if (!snapshot) return { actions: [...tell(observed, 'SnapshotInProgress'), create(snapshotFor(clone), 'its source is kept first')] };
  if (snapshot.status?.phase === 'Failed') return fail(observed, `the snapshot failed: ${snapshot.status.error?.message ?? ''}`);
  if (!snapshot.status?.readyToUse) return wait(observed, 'SnapshotInProgress', 'its source is being kept', LOOK_MS);
  if (!restore) return { actions: [...tell(observed, 'RestoreInProgress'), create(restoreFor(clone), 'its source is kept')] };
  const failure = conditionOf(restore.status?.conditions, 'Failure')?.message;
  if (failure !== undefined) return fail(observed, failure);
  if (!restore.status?.complete)
    return wait(observed, observed.target ? 'CreatingTargetVM' : 'RestoreInProgress', 'its PVCs are being filled', LOOK_MS);
  const [write] = tell(observed, 'Succeeded');
  const event = { type: 'Normal', reason: 'SuccessfulClone', message: `${targetNameOf(clone)} is there` } as const;
  return { actions: write ? [{ ...write, event }] : [], lookAgainAfterMs: LOOK_MS };
}

/** A machine that was there before, or that somebody else made meanwhile. */
function foreignTarget({ clone, restore, target }: ObservedVmClone): string | undefined {
  if (!target) return undefined;
  const isOurs = restore !== undefined && target.metadata.annotations?.[ANNOTATION_LAST_RESTORE] === restore.metadata.uid;
  return isOurs ? undefined : `VirtualMachine ${targetNameOf(clone)} is there already`;
}

function clearAway({ clone, snapshot, restore, unbound = [] }: ObservedVmClone): Decision {
  const because = 'the clone is over';
  if (restore && !isDeleting(restore)) return { actions: [remove(restore, because)], lookAgainAfterMs: LOOK_MS };
  if (!snapshot || isDeleting(snapshot) || !isControlledBy(snapshot, clone)) return nothingToDo;
  return unbound.length > 0 ? { actions: [], lookAgainAfterMs: WAIT_MS } : { actions: [remove(snapshot, because)] };
}

function snapshotFor(clone: VirtualMachineClone): VirtualMachineSnapshot {
  return {
    apiVersion: apiVersionOf(VM_SNAPSHOTS),
    kind: 'VirtualMachineSnapshot',
    metadata: ownedBy(clone, snapshotNameOf(clone)),
    spec: { source: { apiGroup: KUBEVIRT, kind: 'VirtualMachine', name: clone.spec.source.name } },
  };
}

function restoreFor(clone: VirtualMachineClone): VirtualMachineRestore {
  return {
    apiVersion: apiVersionOf(VM_RESTORES),
    kind: 'VirtualMachineRestore',
    metadata: ownedBy(clone, restoreNameOf(clone)),
    spec: {
      target: { apiGroup: KUBEVIRT, kind: 'VirtualMachine', name: targetNameOf(clone) },
      virtualMachineSnapshotName: snapshotNameOf(clone),
      ...(clone.spec.volumeNamePolicy && { volumeRestorePolicy: clone.spec.volumeNamePolicy }),
    },
  };
}

function ownedBy(clone: VirtualMachineClone, name: string): KubeObject['metadata'] {
  return { name, namespace: clone.metadata.namespace, ownerReferences: [controllerReferenceTo(clone)] };
}

function create(object: KubeObject, because: string): Action {
  return { do: 'create', object, because };
}

function remove(object: KubeObject, because: string): Action {
  return { do: 'delete', target: refOf(object), because };
}

function wait(observed: ObservedVmClone, phase: Phase, message: string, lookAgainAfterMs: number): Decision {
  return { actions: tell(observed, phase, message), lookAgainAfterMs };
}

function fail(observed: ObservedVmClone, message: string): Decision {
  const [write] = tell(observed, 'Failed', message);
  return { actions: write ? [{ ...write, event: { type: 'Warning', reason: 'FailedClone', message } }] : [], lookAgainAfterMs: LOOK_MS };
}

function tell({ clone, now }: ObservedVmClone, phase: Phase, message = `it is ${phase}`): Extract<Action, { do: 'patch' }>[] {
  const before = clone.status ?? {};
  const isOver = phase === 'Succeeded' || phase === 'Failed';
  const progressing = {
    type: 'Progressing',
    status: isOver ? 'False' : 'True',
    reason: phase === 'Unknown' ? 'Pending' : phase,
    message,
  } as const;
  const ready = { type: 'Ready', status: phase === 'Succeeded' ? 'True' : 'False', reason: progressing.reason, message } as const;
  const conditions = [progressing, ready].reduce((all, each) => withCondition<VmCloneConditions>(all, each, now), before.conditions ?? []);
  const status: VmCloneStatus = {
    ...before,
    phase,
    snapshotName: snapshotNameOf(clone),
    restoreName: restoreNameOf(clone),
    targetName: targetNameOf(clone),
    conditions,
    ...(phase === 'Succeeded' && { creationTime: timestamp(now) }),
  };
  const patch = diffAsMergePatch(before, status);
  if (patch === undefined) return [];
  return [
    {
      do: 'patch',
      target: refOf(clone),
      patch: { status: patch },
      subresource: 'status',
      resourceVersion: clone.metadata.resourceVersion,
      because: message,
    },
  ];
}
