/**
 * What should happen to one PVC that somebody made for an upload by themselves, without a DataVolume. First match wins.
 *
 *   when                                        then
 *   deleting                                    delete its Pod, which holds the PVC as long as it uses it
 *   filled, or its Pod has succeeded            say so on the PVC, once; delete its Pod
 *   it is a block device                        say that it takes no uploads
 *   its Pod has ended without success           delete it, and make another
 *   no Pod                                      make it
 *   otherwise                                   say on the PVC whether its Pod takes a disk, and look again
 *
 * Pure: no clock, no I/O, no randomness.
 */
import type { Pod } from '../../api/core/pod.ts';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import type { ImportProgress } from '../../api/importer/importer-pod.ts';
import { CDI_ANNOTATIONS } from '../../api/kubevirt/names.ts';
import { controllerOf, isDeleting, refOf } from '../../api/meta.ts';
import type { Action, Decision } from '../../reconcile/decision.ts';
import { annotateClaim, uploadAnnotations } from '../data-volume/annotate-claim.ts';
import { uploadPodFor } from '../data-volume/importer-pod.ts';
import type { Importer } from '../data-volume/observed.ts';

const LOOK_MS = 1_000;

export type ObservedUploadClaim = {
  readonly claim: PersistentVolumeClaim;
  /** The one that takes the disk. */
  readonly pod?: Pod | undefined;
  /** As its Pod says; undefined when it says nothing. */
  readonly progress?: ImportProgress | undefined;
  readonly importer: Importer;
};

/** It waits for an upload of its own: what a DataVolume has made is looked after there. */
export function isUploadClaim(claim: PersistentVolumeClaim): boolean {
  return claim.metadata.annotations?.[CDI_ANNOTATIONS.uploadTarget] !== undefined && controllerOf(claim) === undefined;
}

/** A disk was sent, and is whole. */
export function isFilled({ metadata }: PersistentVolumeClaim): boolean {
  return metadata.annotations?.[CDI_ANNOTATIONS.podPhase] === 'Succeeded';
}

/** The rules above, for one PVC. */
export function decideUploadClaim(observed: ObservedUploadClaim): Decision {
  const { claim, pod, importer } = observed;
  if (isDeleting(claim)) return { actions: remove(pod, 'the PVC is being deleted') };
  if (isFilled(claim) || pod?.status?.phase === 'Succeeded') {
    const filled = { [CDI_ANNOTATIONS.podPhase]: 'Succeeded', [CDI_ANNOTATIONS.podReady]: 'false' };
    return { actions: [...annotateClaim(claim, filled, 'it is filled'), ...remove(pod, 'the volume is filled')] };
  }
  if (claim.spec.volumeMode === 'Block') {
    const message = `PVC ${claim.metadata.name} is a block device, which takes no uploads: send the disk to one with volumeMode Filesystem`;
    return { actions: [{ do: 'record', because: message, event: { type: 'Warning', reason: 'ErrClaimNotValid', message } }] };
  }
  if (pod?.status?.phase === 'Failed') return { actions: remove(pod, 'it ended'), lookAgainAfterMs: LOOK_MS };
  const create: Action[] = pod
    ? []
    : [{ do: 'create', object: uploadPodFor({ owner: claim, claim, importer }), because: 'somebody is to send it a disk' }];
  const tell = pod ? annotateClaim(claim, uploadAnnotations(observed), 'who sends a disk waits for it') : [];
  return { actions: [...create, ...tell], lookAgainAfterMs: LOOK_MS };
}

function remove(pod: Pod | undefined, because: string): Action[] {
  return pod && !isDeleting(pod) ? [{ do: 'delete', target: refOf(pod), because }] : [];
}
