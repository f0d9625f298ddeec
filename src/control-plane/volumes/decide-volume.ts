/**
 * What should happen to one PersistentVolume.
 *
 *   when                                              then
 *   deleting, not bound, its data gone or kept        take the protection off
 *   deleting, not bound, data to be deleted is there  remove it, and wait for the folder to go
 *   not protected                                     protect it: a bound volume outlives its deletion
 *   the phase is behind                               write it: Available, Bound, Released
 *   Released, made by us, reclaim policy Delete       delete it
 *   Released, a shared folder                         delete it; what is in the folder stays as it is
 *
 * Pure: no clock, no I/O, no randomness.
 */
import {
  ANNOTATION_PROVISIONED_BY,
  isSharedFolder,
  LOCAL_PROVISIONER,
  type PersistentVolume,
  type PersistentVolumeClaim,
} from '../../api/core/volume.ts';
import { isDeleting, refOf } from '../../api/meta.ts';
import { type Decision, nothingToDo } from '../../reconcile/decision.ts';
import { VOLUME_PROTECTION } from './decide-claim.ts';

export type ObservedVolume = {
  readonly volume: PersistentVolume;
  /** The claim of the name that the volume refers to, whatever its uid. */
  readonly claim: PersistentVolumeClaim | undefined;
  /** The folder that we made for it exists; false for volumes that we did not make. */
  readonly hasFolder: boolean;
  /** Its removal is under way. */
  readonly isBeingRemoved: boolean;
};
/** Begins to remove the folder. */
export type RemoveData = { readonly do: 'remove data'; readonly because: string };

/** How often to look whether a folder is gone. */
const REMOVAL_MS = 100;

/** The rules above, for one volume. */
export function decideVolume(observed: ObservedVolume): Decision<RemoveData> {
  const { volume, isBeingRemoved } = observed;
  const { finalizers = [] } = volume.metadata;
  const isProtected = finalizers.includes(VOLUME_PROTECTION);
  const target = refOf(volume);
  const { resourceVersion } = volume.metadata;
  const phase = phaseOf(observed);
  if (isDeleting(volume)) {
    if (mayRemoveData(observed))
      return { actions: isBeingRemoved ? [] : [{ do: 'remove data', because: 'its PVC is gone' }], lookAgainAfterMs: REMOVAL_MS };
    if (!isProtected || phase === 'Bound') return nothingToDo;
    const rest = finalizers.filter((each) => each !== VOLUME_PROTECTION);
    return { actions: [{ do: 'patch', target, patch: { metadata: { finalizers: rest } }, resourceVersion, because: 'no PVC holds it' }] };
  }
  if (!isProtected) {
    const patch = { metadata: { finalizers: [...finalizers, VOLUME_PROTECTION] } };
    return { actions: [{ do: 'patch', target, patch, resourceVersion, because: 'a bound volume must outlive its deletion' }] };
  }
  if (volume.status?.phase !== phase) {
    return { actions: [{ do: 'patch', target, patch: { status: { phase } }, subresource: 'status', because: `it is ${phase}` }] };
  }
  if (phase === 'Released' && isOurs(volume) && isToDelete(volume)) {
    return { actions: [{ do: 'delete', target, because: 'its PVC is gone and its reclaim policy is Delete' }] };
  }
  if (phase === 'Released' && isSharedFolder(volume)) {
    return { actions: [{ do: 'delete', target, because: 'its PVC is gone: the folder is shared with nobody' }] };
  }
  return nothingToDo;
}

/** The claim is gone for good, and the folder is ours to remove. */
function mayRemoveData(observed: ObservedVolume): boolean {
  const { volume, hasFolder } = observed;
  return isDeleting(volume) && phaseOf(observed) !== 'Bound' && isOurs(volume) && isToDelete(volume) && hasFolder;
}

function phaseOf({ volume, claim }: ObservedVolume): 'Available' | 'Bound' | 'Released' {
  const { claimRef } = volume.spec;
  if (!claimRef?.uid) return 'Available';
  return claim?.metadata.uid === claimRef.uid ? 'Bound' : 'Released';
}

function isOurs({ metadata }: PersistentVolume): boolean {
  return metadata.annotations?.[ANNOTATION_PROVISIONED_BY] === LOCAL_PROVISIONER;
}

function isToDelete({ spec }: PersistentVolume): boolean {
  return spec.persistentVolumeReclaimPolicy === 'Delete';
}
