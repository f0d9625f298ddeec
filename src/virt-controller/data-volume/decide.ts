/**
 * What should happen to one DataVolume, given everything we can see. First match wins.
 *
 *   when                                        then
 *   deleting                                    nothing: its PVC and its Pod go with it
 *   filled                                      say so on its PVC, once; delete its Pod
 *   its PVC is gone after it was filled         Failed; never filled again silently
 *   no PVC                                      make it, as soon as it is known how large it is to be
 *   its PVC is of somebody else                 say so; what is in it is not touched
 *   it is a copy of a PVC in Block mode         say so: it cannot be
 *   it is a copy of a PVC that is not filled    wait: there is nothing on it, or a half
 *   it is a copy of a PVC that a Pod uses       wait: a disk that is written to is not of one moment
 *   its Pod has ended for good without success  delete it, and make another
 *   it needs a Pod, and there is none           make it
 *   it takes uploads, or does not any more      say so on its PVC
 *   otherwise                                   look again: how far it is
 *
 * With each of them the status is written when it has changed. Nothing is remembered but in objects, so it can be killed at any time.
 * Pure: no clock, no I/O, no randomness.
 */
import type { Pod } from '../../api/core/pod.ts';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import { type DataVolume, type DataVolumePhase, phaseOf } from '../../api/kubevirt/kinds/data-volume.ts';
import { CDI_ANNOTATIONS } from '../../api/kubevirt/names.ts';
import { isDeleting, refOf } from '../../api/meta.ts';
import { diffAsMergePatch } from '../../base/json.ts';
import { type Action, type Decision, type EventToRecord, nothingToDo } from '../../reconcile/decision.ts';
import { annotateClaim, uploadAnnotations } from './annotate-claim.ts';
import { claimFor } from './claim-for.ts';
import { importerPodFor } from './importer-pod.ts';
import type { ObservedDataVolume } from './observed.ts';
import { deriveDataVolumeStatus, needsPod, ownClaim, phaseNow } from './status.ts';

const LOOK_MS = 1_000;
const WAIT_MS = 5_000;

/** The rules above, for one DataVolume. */
export function decideDataVolume(observed: ObservedDataVolume): Decision {
  const { dataVolume, pod } = observed;
  if (isDeleting(dataVolume)) return nothingToDo;
  const phase = phaseNow(observed);
  if (phase === 'Succeeded') return { actions: [...tell(observed), ...markFilled(observed), ...removePod(pod, 'the volume is filled')] };
  if (phase === 'Failed') return { actions: [...tell(observed), ...removePod(pod, 'its PVC is gone')] };
  const waitsFor = obstacleOf(observed);
  if (waitsFor !== undefined) return { actions: tell(observed, waitsFor), lookAgainAfterMs: WAIT_MS };
  const claim = ownClaim(observed);
  if (!claim) return { actions: [...tell(observed), ...makeClaim(observed)], lookAgainAfterMs: LOOK_MS };
  if (!needsPod(observed)) return { actions: tell(observed), lookAgainAfterMs: LOOK_MS };
  if (pod?.status?.phase === 'Failed') return { actions: [...tell(observed), ...removePod(pod, 'it ended')], lookAgainAfterMs: LOOK_MS };
  const missing = pod ? undefined : importerPodFor({ ...observed, claim });
  const create: Action[] = missing ? [{ do: 'create', object: missing, because: 'its PVC is to be filled' }] : [];
  return { actions: [...tell(observed), ...create, ...(pod ? markReady(observed, claim) : [])], lookAgainAfterMs: LOOK_MS };
}

/** What it waits for, in words; undefined when it can go on. */
function obstacleOf(observed: ObservedDataVolume): string | undefined {
  const { dataVolume, claim, pod, source, isSourceUnfilled, sourceUser, snapshot } = observed;
  const { name } = dataVolume.metadata;
  const { pvc, snapshot: wanted } = dataVolume.spec.source ?? {};
  if (claim && !ownClaim(observed)) return `PVC ${name} is there already, and is not of this DataVolume`;
  if (pvc && !source) return `PVC ${pvc.name} is not there`;
  if (pvc && source?.spec.volumeMode === 'Block')
    return `PVC ${pvc.name} is a block device, which is not copied: keep it by a VolumeSnapshot, or clone its machine`;
  if (pvc && !pod && isSourceUnfilled) return `PVC ${pvc.name} is not filled yet`;
  if (pvc && !pod && sourceUser !== undefined) return `Pod ${sourceUser} uses PVC ${pvc.name}: stop its machine`;
  if (wanted && !snapshot) return `VolumeSnapshot ${wanted.name} is not there`;
  if (!claim && !claimFor(observed)) return 'nobody says how large it is to be';
  return undefined;
}

function makeClaim(observed: ObservedDataVolume): Action[] {
  const object = claimFor(observed);
  return object && !observed.claim ? [{ do: 'create', object, because: 'the DataVolume has none' }] : [];
}

/** For who looks at the PVC alone. */
function markFilled({ claim }: ObservedDataVolume): Action[] {
  return claim ? annotateClaim(claim, { [CDI_ANNOTATIONS.podPhase]: 'Succeeded' }, 'it is filled') : [];
}

function markReady(observed: ObservedDataVolume, claim: PersistentVolumeClaim): Action[] {
  return observed.dataVolume.spec.source?.upload ? annotateClaim(claim, uploadAnnotations(observed), 'who sends a disk waits for it') : [];
}

function removePod(pod: Pod | undefined, because: string): Action[] {
  return pod && !isDeleting(pod) ? [{ do: 'delete', target: refOf(pod), because }] : [];
}

/** Progress alone is no news for the log of events. */
function tell(observed: ObservedDataVolume, waitsFor?: string): Action[] {
  const { dataVolume } = observed;
  const status = deriveDataVolumeStatus(observed, waitsFor);
  const patch = diffAsMergePatch(dataVolume.status ?? {}, status);
  const phase = status.phase as DataVolumePhase; // as it was just derived
  const event = phase === phaseOf(dataVolume) ? waitingEvent(observed, waitsFor) : phaseEvent(dataVolume, phase);
  if (patch === undefined) return [];
  const write: Action = {
    do: 'patch',
    target: refOf(dataVolume),
    patch: { status: patch },
    subresource: 'status',
    resourceVersion: dataVolume.metadata.resourceVersion,
    because: waitsFor ?? `it is ${phase}`,
  };
  return [{ ...write, ...(event && { event }) }];
}

function phaseEvent({ metadata: { name } }: DataVolume, phase: DataVolumePhase): EventToRecord | undefined {
  switch (phase) {
    case 'ImportScheduled':
      return { type: 'Normal', reason: phase, message: `Import into ${name} scheduled` };
    case 'ImportInProgress':
      return { type: 'Normal', reason: phase, message: `Import into ${name} in progress` };
    case 'CloneScheduled':
      return { type: 'Normal', reason: phase, message: `Cloning into ${name} scheduled` };
    case 'CloneInProgress':
      return { type: 'Normal', reason: phase, message: `Cloning into ${name} in progress` };
    case 'UploadScheduled':
      return { type: 'Normal', reason: phase, message: `Upload into ${name} scheduled` };
    case 'UploadReady':
      return { type: 'Normal', reason: phase, message: `Upload into ${name} ready` };
    case 'Succeeded':
      return { type: 'Normal', reason: 'ImportSucceeded', message: `Successfully imported into PVC ${name}` };
    case 'Failed':
      return { type: 'Warning', reason: 'ClaimLost', message: `PVC ${name} is gone` };
    case 'Pending':
    case 'PendingPopulation':
    case 'WaitForFirstConsumer':
      return undefined;
  }
}

/** Told with the write that says it first. */
function waitingEvent(observed: ObservedDataVolume, waitsFor: string | undefined): EventToRecord | undefined {
  const { claim, isSourceUnfilled, sourceUser } = observed;
  if (waitsFor === undefined || isSourceUnfilled) return undefined;
  if (sourceUser !== undefined) return { type: 'Warning', reason: 'CloneSourceInUse', message: waitsFor };
  return claim ? { type: 'Warning', reason: 'ErrResourceExists', message: waitsFor } : undefined;
}
