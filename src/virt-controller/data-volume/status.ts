/**
 * The DataVolume status that follows from what we can see. Pure. First match wins.
 *
 *   phase                           when
 *   Succeeded                       it was before, and its PVC is there; or its Pod has succeeded; or it needs none and its PVC is bound
 *   Failed                          it had succeeded, and its PVC is gone: what was in it is lost, and is not made again silently
 *   Pending                         no PVC yet, or one of somebody else, or what it is filled from is not there
 *   WaitForFirstConsumer            it needs no Pod, and its PVC gets a volume with its first user
 *   UploadReady                     its Pod runs, and takes what somebody sends
 *   UploadScheduled                 it does not yet
 *   ImportInProgress, Clone...      its Pod runs, or has begun again
 *   ImportScheduled, Clone...       its Pod does not run yet
 */
import type { ContainerStatus } from '../../api/core/pod.ts';
import type { DataVolumeConditions } from '../../api/kubevirt/condition-reasons.ts';
import { type NewCondition, withCondition } from '../../api/kubevirt/conditions.ts';
import { type DataVolumePhase, type DataVolumeStatus, phaseOf } from '../../api/kubevirt/kinds/data-volume.ts';
import { isControlledBy } from '../../api/meta.ts';
import { sourceNameOf } from './claim-for.ts';
import type { ObservedDataVolume } from './observed.ts';

const PULL_FAILURES = ['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull'];
const MOST_MESSAGE = 500;

/** The rules above. */
export function phaseNow(observed: ObservedDataVolume): DataVolumePhase {
  const { dataVolume, claim, pod, isLate } = observed;
  const before = phaseOf(dataVolume);
  if (before === 'Failed' || (before === 'Succeeded' && !ownClaim(observed))) return 'Failed';
  if (before === 'Succeeded') return 'Succeeded';
  if (!ownClaim(observed)) return 'Pending';
  if (!needsPod(observed)) {
    if (claim?.status?.phase === 'Bound') return 'Succeeded';
    return isLate ? 'WaitForFirstConsumer' : 'Pending';
  }
  if (pod?.status?.phase === 'Succeeded') return 'Succeeded';
  if (sourceNameOf(dataVolume) === 'upload') return takesUploads(observed) ? 'UploadReady' : 'UploadScheduled';
  const word = sourceNameOf(dataVolume) === 'pvc' ? 'Clone' : 'Import';
  const container = containerOf(observed);
  const hasBegun = container?.state?.running !== undefined || (container?.restartCount ?? 0) > 0 || failureOf(observed) !== undefined;
  return pod && hasBegun ? `${word}InProgress` : `${word}Scheduled`;
}

/** Its Pod runs and answers. */
export function takesUploads({ pod, progress }: Pick<ObservedDataVolume, 'pod' | 'progress'>): boolean {
  return pod?.status?.phase === 'Running' && progress !== undefined;
}

/** Something has to be written to its PVC. */
export function needsPod({ dataVolume }: Pick<ObservedDataVolume, 'dataVolume'>): boolean {
  const name = sourceNameOf(dataVolume);
  return name !== undefined && name !== 'blank' && name !== 'snapshot';
}

/** The PVC that was made for it. */
export function ownClaim({ dataVolume, claim }: Pick<ObservedDataVolume, 'dataVolume' | 'claim'>): ObservedDataVolume['claim'] {
  return claim && isControlledBy(claim, dataVolume) ? claim : undefined;
}

/** The whole status; compare it with what is there to know whether to write. */
export function deriveDataVolumeStatus(observed: ObservedDataVolume, waitsFor: string | undefined): DataVolumeStatus {
  const { dataVolume, now } = observed;
  const before = dataVolume.status ?? {};
  const phase = phaseNow(observed);
  const restartCount = containerOf(observed)?.restartCount;
  const conditions = [boundCondition(observed), runningCondition(observed, phase, waitsFor), readyCondition(phase)].reduce(
    (all, condition) => withCondition<DataVolumeConditions>(all, condition, now),
    before.conditions ?? [],
  );
  return {
    ...before,
    claimName: dataVolume.metadata.name,
    phase,
    progress: progressOf(observed, phase),
    ...(restartCount !== undefined && { restartCount }),
    conditions,
  };
}

function progressOf({ dataVolume, progress }: ObservedDataVolume, phase: DataVolumePhase): string {
  if (phase === 'Succeeded') return '100.0%';
  const before = dataVolume.status?.progress ?? 'N/A';
  if (!phase.endsWith('InProgress') && phase !== 'UploadReady') return 'N/A';
  if (!progress?.totalBytes) return before;
  return `${Math.min(100, (100 * progress.doneBytes) / progress.totalBytes).toFixed(2)}%`;
}

type Next = NewCondition<DataVolumeConditions>;

function boundCondition({ dataVolume, claim }: ObservedDataVolume): Next {
  const { name } = dataVolume.metadata;
  if (!claim) return { type: 'Bound', status: 'Unknown', reason: 'NotFound', message: 'No PVC found' };
  const phase = claim.status?.phase ?? 'Pending';
  if (phase === 'Lost') return { type: 'Bound', status: 'False', reason: 'ClaimLost', message: `PVC ${name} Lost` };
  return { type: 'Bound', status: phase === 'Bound' ? 'True' : 'False', reason: phase, message: `PVC ${name} ${phase}` };
}

function runningCondition(observed: ObservedDataVolume, phase: DataVolumePhase, waitsFor: string | undefined): Next {
  const said = (status: 'True' | 'False', reason: DataVolumeConditions['Running'], message: string): Next => ({
    type: 'Running',
    status,
    reason,
    message: message.slice(0, MOST_MESSAGE),
  });
  if (phase === 'Succeeded') return said('False', 'Completed', 'the volume is filled');
  if (phase === 'Failed')
    return said('False', 'Error', 'its PVC is gone, and what was in it is lost: delete the DataVolume and make it again');
  const failure = failureOf(observed);
  if (failure) return said('False', failure.reason, failure.message);
  if (containerOf(observed)?.state?.running) return said('True', 'Pod is running', 'the volume is being filled');
  return said('False', 'Pending', waitsFor ?? 'it waits for its Pod');
}

function readyCondition(phase: DataVolumePhase): Next {
  return phase === 'Succeeded'
    ? { type: 'Ready', status: 'True', reason: 'Ready', message: '' }
    : { type: 'Ready', status: 'False', reason: 'NotReady', message: `it is ${phase}` };
}

/** Why its Pod is not at work: what the importer said before it ended, or why its image cannot be had. */
function failureOf(observed: ObservedDataVolume): { readonly reason: 'Error' | 'ImagePullFailed'; readonly message: string } | undefined {
  const { state, lastState } = containerOf(observed) ?? {};
  if (state?.running && observed.progress?.failure !== undefined) return { reason: 'Error', message: observed.progress.failure };
  if (state?.running) return undefined;
  const { reason = '', message } = state?.waiting ?? {};
  if (PULL_FAILURES.includes(reason)) return { reason: 'ImagePullFailed', message: message ?? reason };
  const ended = state?.terminated ?? lastState?.terminated;
  if (!ended || ended.exitCode === 0) return undefined;
  const lastLine = (ended.message ?? '').trim().split('\n').at(-1);
  return { reason: 'Error', message: lastLine || `its Pod ended with ${ended.exitCode}` };
}

function containerOf({ pod }: ObservedDataVolume): ContainerStatus | undefined {
  return pod?.status?.containerStatuses?.[0];
}
