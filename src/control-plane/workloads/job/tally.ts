/**
 * What the Pods of a Job add up to, each counted once, whatever happens between two writes. Pure.
 *
 * A Pod has a finalizer until it is counted. One that has ended is first noted by its uid in the status (`uncountedTerminatedPods`), then
 * loses its finalizer, and is counted and taken off the note when that is seen. A crash after any of these writes leaves either the note or the
 * finalizer, so the Pod is neither lost nor counted again. Of an Indexed Job the list of finished numbers is the note for those that succeeded.
 */
import type { Job } from '../../../api/core/job.ts';
import type { Pod } from '../../../api/core/pod.ts';
import { isControlledBy, isDeleting } from '../../../api/meta.ts';
import { isPodActive, isPodReady } from '../pod-state.ts';
import { indexOf, isIndexed, parseIndexes } from './indexes.ts';

export const FINALIZER_JOB_TRACKING = 'batch.kubernetes.io/job-tracking';

export type Tally = {
  readonly active: readonly Pod[];
  readonly ready: number;
  readonly terminating: number;
  /** With those that are noted and not counted yet. */
  readonly succeeded: number;
  readonly failed: number;
  /** What the status has to say: counted ones, and the uids of others. */
  readonly counted: { readonly succeeded: number; readonly failed: number };
  readonly uncounted: { readonly succeeded: readonly string[]; readonly failed: readonly string[] };
  /** Finished numbers of an Indexed Job. */
  readonly indexes: ReadonlySet<number>;
  /** Pods that are noted in the status as it is stored: their finalizers may go. */
  readonly noted: readonly Pod[];
};

/** Status objects stay small: what is beyond is noted in a later pass. */
const MOST_NOTED = 500;

export function tallyOf(job: Job, pods: readonly Pod[]): Tally {
  const mine = pods.filter((pod) => isControlledBy(pod, job));
  const held = new Map(mine.filter(isTracked).map((pod) => [pod.metadata.uid ?? '', pod]));
  const { succeeded = [], failed = [] } = job.status?.uncountedTerminatedPods ?? {};
  const known = new Set([...succeeded, ...failed]);
  const stored = parseIndexes(job.status?.completedIndexes, job.spec.completions ?? 0);
  const fresh = [...held.values()].filter((pod) => !known.has(pod.metadata.uid ?? '')).slice(0, MOST_NOTED);
  const freshOf = (outcome: 'succeeded' | 'failed') => fresh.filter((pod) => outcomeOf(pod) === outcome);
  const done = freshOf('succeeded');
  const indexes = new Set([...stored, ...done.flatMap((pod) => indexOf(pod, job) ?? [])]);
  const isNoted = (pod: Pod) =>
    known.has(pod.metadata.uid ?? '') || (outcomeOf(pod) === 'succeeded' && stored.has(indexOf(pod, job) ?? -1));
  const uncounted = {
    succeeded: [...succeeded.filter((uid) => held.has(uid)), ...(isIndexed(job) ? [] : uidsOf(done))],
    failed: [...failed.filter((uid) => held.has(uid)), ...uidsOf(freshOf('failed'))],
  };
  const counted = {
    succeeded: isIndexed(job) ? indexes.size : (job.status?.succeeded ?? 0) + succeeded.filter((uid) => !held.has(uid)).length,
    failed: (job.status?.failed ?? 0) + failed.filter((uid) => !held.has(uid)).length,
  };
  const active = mine.filter(isPodActive);
  return {
    active,
    ready: active.filter(isPodReady).length,
    terminating: mine.filter((pod) => isDeleting(pod) && pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed').length,
    succeeded: counted.succeeded + uncounted.succeeded.length,
    failed: counted.failed + uncounted.failed.length,
    counted,
    uncounted,
    indexes,
    noted: [...held.values()].filter(isNoted),
  };
}

export function isTracked({ metadata }: Pod): boolean {
  return metadata.finalizers?.includes(FINALIZER_JOB_TRACKING) ?? false;
}

/** How a Pod ended. One that somebody deletes has failed: it may never get to say so itself. */
function outcomeOf(pod: Pod): 'succeeded' | 'failed' | undefined {
  if (pod.status?.phase === 'Succeeded') return 'succeeded';
  return pod.status?.phase === 'Failed' || isDeleting(pod) ? 'failed' : undefined;
}

function uidsOf(pods: readonly Pod[]): string[] {
  return pods.map(({ metadata }) => metadata.uid ?? '');
}
