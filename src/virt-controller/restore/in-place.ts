/**
 * A restore in place (volumeRestorePolicy InPlace): the claims that the machine has go, and new ones of the same names begin as the snapshot. First match wins.
 *
 *   when                                                   then
 *   another policy, or nothing of then is left             nothing: its claims are made as for any restore
 *   the snapshot is of another machine, or there is none   fail
 *   the machine does not name a claim that is there        fail: it is somebody else's
 *   the machine is not what it was                         change it in one write: no DataVolume makes the claims again, and no half of old and new is left
 *   claims of then are there                               delete all of them, with the DataVolumes that had filled them
 *   they go                                                wait: no claim is made before the last one is gone
 *
 * The machine is marked and not started meanwhile. So it has all of the old disks, or lacks some and cannot start, or has all of the new ones. From the first
 * claim that goes there is no way back: whoever deletes the restore or the snapshot waits until it is over. Pure.
 */
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import { DATA_VOLUMES } from '../../api/kubevirt/kinds/data-volume.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineRestore } from '../../api/kubevirt/kinds/vm-restore.ts';
import type { VirtualMachineSnapshotContent } from '../../api/kubevirt/kinds/vm-snapshot-content.ts';
import { ANNOTATION_LAST_RESTORE } from '../../api/kubevirt/names.ts';
import { claimOf } from '../../api/kubevirt/volumes/source-of.ts';
import { hasCondition, isDeleting, refOf } from '../../api/meta.ts';
import { diffAsMergePatch } from '../../base/json.ts';
import type { Action } from '../../reconcile/decision.ts';
import type { ObservedVmRestore } from './observed.ts';
import { claimNameFor, specFor } from './restored.ts';

export type InPlaceStep =
  | { readonly do: 'fail'; readonly message: string }
  | { readonly do: 'wait'; readonly message: string }
  | { readonly do: 'act'; readonly actions: readonly Action[] };

/** The rules above. */
export function inPlaceStep(observed: ObservedVmRestore, content: VirtualMachineSnapshotContent): InPlaceStep | undefined {
  const { restore, vm } = observed;
  if (!isInPlace(restore)) return undefined;
  const source = content.spec.source.virtualMachine?.metadata.name;
  if (!vm || source !== restore.spec.target.name)
    return { do: 'fail', message: `volumeRestorePolicy InPlace is for the machine that the snapshot is of, ${source}` };
  const old = oldClaims(observed, content);
  if (old.length === 0) return undefined;
  if (!isWritten(observed)) {
    const foreign = old.find(({ metadata }) => !names(vm, metadata.name));
    if (foreign) return { do: 'fail', message: `PVC ${foreign.metadata.name} is there already, and is not of this machine` };
    return { do: 'act', actions: [write(observed, vm, content)] };
  }
  const staying = old.filter((claim) => !isDeleting(claim));
  if (staying.length > 0) return { do: 'act', actions: staying.flatMap(remove) };
  return { do: 'wait', message: `PVC ${old[0]?.metadata.name} is being deleted: it goes when no Pod uses it` };
}

/** Something of then has gone already. */
export function isPastReturn(observed: ObservedVmRestore): boolean {
  const { restore, content, claims } = observed;
  if (!isInPlace(restore) || !isWritten(observed) || !content) return false;
  return (content.spec.volumeBackups ?? []).some((backup) => {
    const claim = claims.get(claimNameFor(restore, backup));
    return !claim || isDeleting(claim) || isOurs(observed, claim);
  });
}

/** It has begun, as its status says, and is not over: the snapshot stays until then. */
export function isReplacing({ spec, status }: VirtualMachineRestore): boolean {
  const isOver = status?.complete === true || hasCondition(status?.conditions, 'Failure');
  return spec.volumeRestorePolicy === 'InPlace' && status?.restores !== undefined && !isOver;
}

/** Made by this restore. */
export function isOurs({ restore }: Pick<ObservedVmRestore, 'restore'>, claim: PersistentVolumeClaim): boolean {
  return claim.metadata.annotations?.[ANNOTATION_LAST_RESTORE] === restore.metadata.uid;
}

/** For the status, which keeps what it has said. */
export function replacedDataVolumes(observed: ObservedVmRestore): { readonly deletedDataVolumes?: string[] } {
  const { restore, content } = observed;
  if (!isInPlace(restore) || !content) return {};
  const now = oldClaims(observed, content).flatMap((claim) => dataVolumeOf(claim)?.name ?? []);
  const all = [...new Set([...(restore.status?.deletedDataVolumes ?? []), ...now])];
  return all.length > 0 ? { deletedDataVolumes: all } : {};
}

function isInPlace({ spec }: VirtualMachineRestore): boolean {
  return spec.volumeRestorePolicy === 'InPlace';
}

/** The machine is what it was, but for its disks. */
function isWritten({ restore, vm }: ObservedVmRestore): boolean {
  return vm?.metadata.annotations?.[ANNOTATION_LAST_RESTORE] === restore.metadata.uid;
}

function oldClaims(observed: ObservedVmRestore, content: VirtualMachineSnapshotContent): PersistentVolumeClaim[] {
  const { restore, claims } = observed;
  return (content.spec.volumeBackups ?? []).flatMap((backup) => {
    const claim = claims.get(claimNameFor(restore, backup));
    return claim && !isOurs(observed, claim) ? [claim] : [];
  });
}

function names({ spec }: VirtualMachine, claimName: string): boolean {
  return (spec.template.spec.volumes ?? []).some((volume) => claimOf(volume)?.claimName === claimName);
}

function write({ restore }: ObservedVmRestore, vm: VirtualMachine, content: VirtualMachineSnapshotContent): Action {
  const spec = diffAsMergePatch(vm.spec, specFor(restore, content, vm));
  const annotations = { [ANNOTATION_LAST_RESTORE]: restore.metadata.uid };
  const patch = { metadata: { annotations }, ...(spec !== undefined && { spec }) };
  return {
    do: 'patch',
    target: refOf(vm),
    patch,
    resourceVersion: vm.metadata.resourceVersion,
    because: 'it becomes what it was, its disks come next',
  };
}

function dataVolumeOf({ metadata }: PersistentVolumeClaim) {
  return metadata.ownerReferences?.find(({ kind, controller }) => kind === DATA_VOLUMES.kind && controller === true);
}

/** Its DataVolume first: that would be without its claim, and say that it failed. */
function remove(claim: PersistentVolumeClaim): Action[] {
  const because = 'another one takes its place';
  const owner = dataVolumeOf(claim);
  const { namespace } = claim.metadata;
  return [
    ...(owner ? [{ do: 'delete', target: { ...owner, namespace }, because } as const] : []),
    { do: 'delete', target: refOf(claim), because },
  ];
}
