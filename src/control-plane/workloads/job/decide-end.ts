/**
 * Whether and how a Job ends. Pure.
 *
 *   when, first match                                                        then
 *   it was decided before                                                    what was decided stays (FailureTarget)
 *   more Pods have failed than backoffLimit, restarts counted where they are  Failed, BackoffLimitExceeded
 *   it has run for activeDeadlineSeconds                                     Failed, DeadlineExceeded
 *   completions: so many have succeeded                                      Complete
 *   no completions: one has succeeded, and none runs any more                Complete
 */
import type { Job } from '../../../api/core/job.ts';
import type { Pod } from '../../../api/core/pod.ts';
import { conditionOf } from '../../../api/meta.ts';
import type { Tally } from './tally.ts';

export type End =
  | { readonly as: 'Complete'; readonly reason: 'CompletionsReached'; readonly message: string }
  | { readonly as: 'Failed'; readonly reason: 'BackoffLimitExceeded' | 'DeadlineExceeded'; readonly message: string };

const LATE: End = { as: 'Failed', reason: 'DeadlineExceeded', message: 'Job was active longer than specified deadline' };
const TIRED: End = { as: 'Failed', reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' };
const DONE: End = { as: 'Complete', reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' };

export function endOf(job: Job, tally: Tally, now: number): End | undefined {
  const { completions, suspend } = job.spec;
  const decided = conditionOf(job.status?.conditions, 'FailureTarget');
  if (decided?.status === 'True') return decided.reason === LATE.reason ? LATE : TIRED;
  if (isTired(job, tally)) return TIRED;
  if (!suspend && (deadlineInMs(job, now) ?? 1) <= 0) return LATE;
  if (completions !== undefined) return tally.succeeded >= completions ? DONE : undefined;
  return tally.succeeded > 0 && tally.active.length === 0 ? DONE : undefined;
}

/** In how long the time of a Job is over; undefined when it has none. */
export function deadlineInMs({ spec, status }: Job, now: number): number | undefined {
  if (spec.activeDeadlineSeconds === undefined || status?.startTime === undefined || spec.suspend) return undefined;
  return Date.parse(status.startTime) + spec.activeDeadlineSeconds * 1000 - now;
}

/** Whether a Job has ended for good. */
export function isFinished({ status }: Job): boolean {
  return finishedAt({ status }) !== undefined;
}

/** When it did. */
export function finishedAt({ status }: Pick<Job, 'status'>): number | undefined {
  const last = status?.conditions?.find(({ type, status: is }) => (type === 'Complete' || type === 'Failed') && is === 'True');
  return last && (Date.parse(last.lastTransitionTime ?? '') || 0);
}

function isTired({ spec }: Job, { failed, active }: Tally): boolean {
  const limit = spec.backoffLimit ?? 6;
  if (failed > limit) return true;
  if (spec.template.spec.restartPolicy !== 'OnFailure') return false;
  const restarts = active.reduce((total, pod) => total + restartsOf(pod), 0);
  return limit === 0 ? restarts > 0 : restarts >= limit;
}

function restartsOf({ status }: Pod): number {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return all.reduce((total, { restartCount }) => total + restartCount, 0);
}
