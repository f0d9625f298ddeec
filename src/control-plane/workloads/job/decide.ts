/**
 * What should happen to one Job, given every Pod that may be its own.
 *
 *   when                                        then
 *   no selector, or somebody else manages it    nothing
 *   an orphan fits the selector                 adopt it; nothing else in this pass
 *   it has ended, or is being deleted           let go of its Pods: nothing of them is counted any more
 *   a Pod has ended                             note it, let go of it, count it (tally.ts): each in a pass of its own
 *   it should end (decide-end.ts)               delete what runs; Complete or Failed when nothing runs and all is counted
 *   suspended                                   delete what runs, without counting it; no time runs
 *   fewer run than parallelism allows           create the difference, after a pause that doubles with every failure (10 s to 6 min)
 *   more                                        delete the difference, without counting it
 *
 * The status is written before Pods are made or deleted: a Job knows when it began before it begins.
 *
 * Pure: no clock, no I/O, no randomness.
 */
import type { Job, JobStatus } from '../../../api/core/job.ts';
import type { Pod } from '../../../api/core/pod.ts';
import { withCondition } from '../../../api/kubevirt/conditions.ts';
import { type Condition, conditionOf, hasCondition, isControlledBy, isDeleting, refOf } from '../../../api/meta.ts';
import { backoffMs } from '../../../base/backoff.ts';
import { diffAsMergePatch } from '../../../base/json.ts';
import { requirementsOf } from '../../../base/selectors.ts';
import { timestamp } from '../../../base/timestamp.ts';
import { adopt } from '../../../reconcile/decide-owner.ts';
import { type Action, type Decision, type EventToRecord, nothingToDo } from '../../../reconcile/decision.ts';
import { madeNames } from '../made-names.ts';
import { isPodReady } from '../pod-state.ts';
import { deadlineInMs, type End, endOf, isFinished } from './decide-end.ts';
import { indexesText, indexOf, isIndexed } from './indexes.ts';
import { jobPod } from './job-pod.ts';
import type { ObservedJob } from './observed.ts';
import { FINALIZER_JOB_TRACKING, isTracked, type Tally, tallyOf } from './tally.ts';

const BURST = 500;
const BACKOFF = { firstMs: 10_000, capMs: 360_000 };
const OURS = 'kubernetes.io/job-controller';

type Conditions = Readonly<Record<'Complete' | 'Failed' | 'FailureTarget' | 'SuccessCriteriaMet' | 'Suspended', string>>;

/** The rules above, for one Job. */
export function decideJob(observed: ObservedJob): Decision {
  const { job, pods, mayAdopt, now } = observed;
  const { managedBy = OURS } = job.spec as { managedBy?: string };
  if (requirementsOf(job.spec.selector ?? {}).length === 0 || managedBy !== OURS) return nothingToDo;
  const mine = pods.filter((pod) => isControlledBy(pod, job));
  if (isFinished(job) || isDeleting(job)) return { actions: mine.filter(isTracked).map((pod) => letGo(pod, 'the Job has ended')) };
  const orphans = pods.filter((pod) => !isControlledBy(pod, job) && !isDeleting(pod));
  if (mayAdopt && orphans.length > 0) return { actions: orphans.map((pod) => adopt(job, pod, { finalizers: trackedFinalizers(pod) })) };
  const tally = tallyOf(job, pods);
  const end = endOf(job, tally, now);
  const { actions, waitMs } = end ? { actions: stop(tally, end), waitMs: undefined } : scale(observed, tally, mine);
  const waits = [waitMs, deadlineInMs(job, now)].filter((each) => each !== undefined && each > 0) as number[]; // by the filter
  return {
    actions: [...writeStatus(job, tally, end, now), ...tally.noted.map((pod) => letGo(pod, 'it is noted in the status')), ...actions],
    ...(waits.length > 0 && { lookAgainAfterMs: Math.min(...waits) }),
  };
}

function trackedFinalizers({ metadata }: Pod): string[] {
  return [...(metadata.finalizers ?? []), FINALIZER_JOB_TRACKING];
}

function letGo(pod: Pod, because: string): Action {
  const finalizers = (pod.metadata.finalizers ?? []).filter((each) => each !== FINALIZER_JOB_TRACKING);
  const { resourceVersion } = pod.metadata;
  return { do: 'patch', target: refOf(pod), patch: { metadata: { finalizers } }, resourceVersion, because };
}

/** What still runs when the Job ends counts as failed. */
function stop({ active }: Tally, { reason }: End): Action[] {
  return active.map((pod) => remove(pod, reason));
}

function scale(observed: ObservedJob, tally: Tally, mine: readonly Pod[]): { actions: Action[]; waitMs?: number } {
  const { job, now } = observed;
  const { active } = tally;
  const wanted = wantedOf(job, tally);
  if (active.length > wanted) {
    const idleFirst = active.toSorted((a, b) => Number(isPodReady(a)) - Number(isPodReady(b)) || byAge(b, a));
    const because = job.spec.suspend ? 'the Job is suspended' : `${active.length} run, ${wanted} are wanted`;
    return { actions: idleFirst.slice(0, active.length - wanted).flatMap((pod) => [letGo(pod, because), remove(pod, because)]) };
  }
  const waitMs = backoffLeftMs(mine, now);
  if (waitMs > 0 && active.length < wanted) return { actions: [], waitMs };
  return { actions: create(observed, mine, { tally, count: Math.min(BURST, wanted - active.length) }) };
}

function wantedOf({ spec }: Job, { succeeded, active }: Tally): number {
  const { parallelism = 1, completions, suspend } = spec;
  if (suspend) return 0;
  if (completions === undefined) return succeeded > 0 ? active.length : parallelism;
  return Math.min(parallelism, Math.max(0, completions - succeeded));
}

type Making = { readonly tally: Tally; readonly count: number };

function create({ job, taken }: ObservedJob, mine: readonly Pod[], { tally, count }: Making): Action[] {
  if (count <= 0) return [];
  const busy = new Set([...tally.indexes, ...tally.active.flatMap((pod) => indexOf(pod, job) ?? [])]);
  const free = isIndexed(job)
    ? firstFree(busy, Math.min(count, (job.spec.completions ?? 0) - busy.size))
    : Array.from({ length: count }, () => undefined);
  const known = new Set([...mine.map(({ metadata }) => metadata.name), ...(taken ?? [])]); // once, not for each of them
  const names = isIndexed(job)
    ? free.flatMap((index) => madeNames({ owner: job, prefix: `${job.metadata.name}-${index}-`, present: [], taken: known, count: 1 }))
    : madeNames({ owner: job, present: mine, taken, count });
  return free.map((index, i) => {
    const name = names[i] ?? '';
    return {
      do: 'create',
      object: jobPod(job, { name, ...(index !== undefined && { index }) }),
      because: `${tally.active.length} run, ${tally.succeeded} have succeeded`,
      event: { type: 'Normal', reason: 'SuccessfulCreate', message: `Created pod: ${name}` },
    };
  });
}

function firstFree(busy: ReadonlySet<number>, count: number): number[] {
  const free: number[] = [];
  for (let index = 0; free.length < count; index += 1) if (!busy.has(index)) free.push(index);
  return free;
}

/** How long after the last failure the next Pod may come: failures since the last success count. */
function backoffLeftMs(mine: readonly Pod[], now: number): number {
  const ends = (phase: string) => mine.filter(({ status }) => status?.phase === phase).map(endedAt);
  const lastSuccess = Math.max(0, ...ends('Succeeded'));
  const failures = ends('Failed').filter((at) => at > lastSuccess);
  return failures.length === 0 ? 0 : Math.max(...failures) + backoffMs(BACKOFF, failures.length) - now;
}

function endedAt({ status, metadata }: Pod): number {
  const times = (status?.containerStatuses ?? []).map(({ state }) => Date.parse(state?.terminated?.finishedAt ?? '') || 0);
  return Math.max(0, ...times) || Date.parse(metadata.creationTimestamp ?? '') || 0;
}

function byAge(a: Pod, b: Pod): number {
  return (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? '');
}

function remove(pod: Pod, because: string): Action {
  const message = `Deleted pod: ${pod.metadata.name}`;
  return { do: 'delete', target: refOf(pod), because, event: { type: 'Normal', reason: 'SuccessfulDelete', message } };
}

function writeStatus(job: Job, tally: Tally, end: End | undefined, now: number): Action[] {
  const { status, event } = statusAfter(job, tally, end, now);
  const patch = diffAsMergePatch(job.status ?? {}, status);
  if (patch === undefined) return [];
  const because = `${tally.active.length} run, ${tally.succeeded} have succeeded, ${tally.failed} have failed`;
  const { resourceVersion } = job.metadata;
  const write = { do: 'patch', target: refOf(job), subresource: 'status', patch: { status: patch }, resourceVersion, because } as const;
  return [event ? { ...write, event } : write];
}

/** The whole status, and the event that goes with a change of what is said of the Job. */
function statusAfter(job: Job, tally: Tally, end: End | undefined, now: number): { status: JobStatus; event?: EventToRecord } {
  const { suspend = false } = job.spec;
  const { counted, uncounted } = tally;
  const isSettled = tally.active.length === 0 && tally.terminating === 0 && uncounted.succeeded.length + uncounted.failed.length === 0;
  const { conditions, event } = conditionsAfter(job, { end, isSettled, now });
  const isComplete = hasCondition(conditions, 'Complete');
  const startTime = suspend ? undefined : (job.status?.startTime ?? timestamp(now));
  return {
    status: {
      startTime,
      completionTime: isComplete ? (job.status?.completionTime ?? timestamp(now)) : undefined,
      active: tally.active.length || undefined,
      ready: tally.ready,
      terminating: tally.terminating,
      succeeded: counted.succeeded || undefined,
      failed: counted.failed || undefined,
      completedIndexes: isIndexed(job) ? indexesText(tally.indexes) || undefined : undefined,
      uncountedTerminatedPods: {
        ...(uncounted.succeeded.length > 0 && { succeeded: uncounted.succeeded }),
        ...(uncounted.failed.length > 0 && { failed: uncounted.failed }),
      },
      conditions: conditions.length === 0 ? undefined : conditions,
    },
    ...(event && { event }),
  };
}

type Ending = { readonly end: End | undefined; readonly isSettled: boolean; readonly now: number };

function conditionsAfter(job: Job, { end, isSettled, now }: Ending): { conditions: readonly Condition[]; event?: EventToRecord } {
  const before = job.status?.conditions ?? [];
  const said = (
    on: readonly Condition[],
    type: keyof Conditions,
    of: { reason: string; message: string },
    status: 'True' | 'False' = 'True',
  ) => withCondition<Conditions>(on, { type, status, reason: of.reason, message: of.message }, now);
  if (end) {
    const first = said(before, end.as === 'Failed' ? 'FailureTarget' : 'SuccessCriteriaMet', end);
    if (!isSettled) return { conditions: first };
    const event: EventToRecord =
      end.as === 'Failed'
        ? { type: 'Warning', reason: end.reason, message: end.message }
        : { type: 'Normal', reason: 'Completed', message: 'Job completed' };
    return { conditions: said(first, end.as, end), event };
  }
  const was = conditionOf(before, 'Suspended')?.status;
  if (job.spec.suspend && was !== 'True') {
    const event: EventToRecord = { type: 'Normal', reason: 'Suspended', message: 'Job suspended' };
    return { conditions: said(before, 'Suspended', { reason: 'JobSuspended', message: 'Job suspended' }), event };
  }
  if (job.spec.suspend || was !== 'True') return { conditions: before };
  const event: EventToRecord = { type: 'Normal', reason: 'Resumed', message: 'Job resumed' };
  return { conditions: said(before, 'Suspended', { reason: 'JobResumed', message: 'Job resumed' }, 'False'), event };
}
