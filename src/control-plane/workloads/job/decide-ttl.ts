/** A Job that has ended goes after ttlSecondsAfterFinished, with its Pods. Pure. */
import type { Job } from '../../../api/core/job.ts';
import { isDeleting, refOf } from '../../../api/meta.ts';
import { type Decision, nothingToDo } from '../../../reconcile/decision.ts';
import { finishedAt } from './decide-end.ts';

export type ObservedTtl = { readonly job: Job; readonly now: number };

/** Deletes it when its time has come, as it was seen: one that was changed meanwhile is looked at again. */
export function decideTtl({ job, now }: ObservedTtl): Decision {
  const { ttlSecondsAfterFinished: seconds } = job.spec;
  const endedAt = finishedAt(job);
  if (seconds === undefined || endedAt === undefined || isDeleting(job)) return nothingToDo;
  const leftMs = endedAt + seconds * 1000 - now;
  if (leftMs > 0) return { actions: [], lookAgainAfterMs: leftMs };
  const { resourceVersion } = job.metadata;
  const because = `it ended ${seconds} s ago`;
  return { actions: [{ do: 'delete', target: refOf(job), propagationPolicy: 'Foreground', resourceVersion, because }] };
}
