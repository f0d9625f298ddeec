/**
 * What should happen to one CronJob, given its Jobs.
 *
 *   when                                                        then
 *   being deleted                                               nothing: the garbage collector does the rest
 *   more Jobs have ended than the history limits allow          delete the oldest, those that failed by their own limit
 *   suspended                                                   nothing new; what runs goes on
 *   its time has come, startingDeadlineSeconds are over         skip it: an event says so
 *   its time has come, the Job of this time is there            remember that it was started
 *   its time has come, Forbid, and one runs                     wait until that has ended, for as long as the deadline allows
 *   its time has come, Replace, and one runs                    delete it, and make the Job of this time
 *   its time has come                                           make the Job of this time
 *   else                                                        look again when the next time comes
 *
 * Of several times that were missed, the last counts. The name of a Job follows from its time, so none is made twice. It is made before it
 * is remembered: a crash in between finds it by its name.
 *
 * Pure: no clock, no I/O, no randomness.
 */
import { type CronJob, JOBS, type Job } from '../../../api/core/job.ts';
import { controllerReferenceTo, hasCondition, isDeleting, refOf } from '../../../api/meta.ts';
import { apiVersionOf } from '../../../api/resource.ts';
import { type Cron, lastTime, nextTime, parseCron } from '../../../base/cron.ts';
import { diffAsMergePatch } from '../../../base/json.ts';
import { timestamp } from '../../../base/timestamp.ts';
import { type Action, type Decision, nothingToDo } from '../../../reconcile/decision.ts';
import { finishedAt, isFinished } from '../job/decide-end.ts';
import type { ObservedCronJob } from './observed.ts';

const ANNOTATION_TIME = 'batch.kubernetes.io/cronjob-scheduled-timestamp';
/** Longer than this a timer cannot be set; it is looked at again before. */
const LONGEST_WAIT_MS = 3_600_000;

/** The rules above, for one CronJob. */
export function decideCronJob(observed: ObservedCronJob): Decision {
  const { cronJob, jobs, now } = observed;
  const cron = parseCron(cronJob.spec.schedule);
  if (isDeleting(cronJob) || !cron) return nothingToDo;
  const history = forgetJobs(cronJob, jobs);
  if (cronJob.spec.suspend) return { actions: [...history, ...writeStatus(observed)] };
  const due = dueTime(cronJob, cron, now);
  const { actions, startedAt } = due === undefined ? { actions: [] } : start(observed, due);
  const next = nextTime(cron, { afterMs: now, timeZone: zoneOf(cronJob) });
  return {
    actions: [...history, ...actions, ...writeStatus(observed, startedAt)],
    ...(next !== undefined && { lookAgainAfterMs: Math.min(next - now, LONGEST_WAIT_MS) }),
  };
}

function forgetJobs({ spec }: CronJob, jobs: readonly Job[]): Action[] {
  const ended = jobs.filter((job) => isFinished(job) && !isDeleting(job)).toSorted((a, b) => (finishedAt(a) ?? 0) - (finishedAt(b) ?? 0));
  const hasFailed = (job: Job) => hasCondition(job.status?.conditions, 'Failed');
  return [
    ...oldest(ended.filter(hasFailed), spec.failedJobsHistoryLimit ?? 1),
    ...oldest(
      ended.filter((job) => !hasFailed(job)),
      spec.successfulJobsHistoryLimit ?? 3,
    ),
  ].map((job) => remove(job, 'enough of those that have ended are kept'));
}

function oldest(jobs: readonly Job[], limit: number): readonly Job[] {
  return jobs.slice(0, Math.max(0, jobs.length - limit));
}

function zoneOf({ spec }: CronJob): string {
  return spec.timeZone ?? 'UTC';
}

/** The last time that has come and was not started; none is looked for before the deadline. */
function dueTime({ metadata, spec, status }: CronJob, cron: Cron, now: number): number | undefined {
  const since = Date.parse(status?.lastScheduleTime ?? metadata.creationTimestamp ?? '') || 0;
  return lastTime(cron, { afterMs: since, untilMs: now, timeZone: spec.timeZone ?? 'UTC' });
}

function start({ cronJob, jobs, now }: ObservedCronJob, due: number): { actions: Action[]; startedAt?: number } {
  const { startingDeadlineSeconds, concurrencyPolicy } = cronJob.spec;
  const name = `${cronJob.metadata.name}-${Math.floor(due / 60_000)}`;
  if (jobs.some(({ metadata }) => metadata.name === name)) return { actions: [], startedAt: due };
  if (startingDeadlineSeconds !== undefined && due + startingDeadlineSeconds * 1000 < now) {
    const message = `Missed scheduled time to start a job: ${timestamp(due)}`;
    return {
      actions: [{ do: 'record', because: 'it is too late', event: { type: 'Warning', reason: 'MissSchedule', message } }],
      startedAt: due,
    };
  }
  const running = jobs.filter((job) => !isFinished(job) && !isDeleting(job));
  if (concurrencyPolicy === 'Forbid' && running.length > 0) {
    const message = 'Not starting job because prior execution is running and concurrency policy is Forbid';
    return { actions: [{ do: 'record', because: 'one runs', event: { type: 'Normal', reason: 'JobAlreadyActive', message } }] };
  }
  const replaced = concurrencyPolicy === 'Replace' ? running.map((job) => remove(job, 'the next one takes its place')) : [];
  const event = { type: 'Normal', reason: 'SuccessfulCreate', message: `Created job ${name}` } as const;
  const object = jobFor(cronJob, { name, due });
  return { actions: [...replaced, { do: 'create', object, because: `it is ${timestamp(due)}`, event }], startedAt: due };
}

function jobFor(cronJob: CronJob, { name, due }: { name: string; due: number }): Job {
  const { metadata = {}, spec } = cronJob.spec.jobTemplate;
  return {
    apiVersion: apiVersionOf(JOBS),
    kind: 'Job',
    metadata: {
      name,
      namespace: cronJob.metadata.namespace,
      ...(metadata.labels && { labels: metadata.labels }),
      annotations: { ...metadata.annotations, [ANNOTATION_TIME]: timestamp(due) },
      ownerReferences: [controllerReferenceTo(cronJob)],
    },
    spec,
  };
}

function remove(job: Job, because: string): Action {
  const event = { type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted job ${job.metadata.name}` } as const;
  return { do: 'delete', target: refOf(job), propagationPolicy: 'Background', because, event };
}

function writeStatus({ cronJob, jobs }: ObservedCronJob, startedAt?: number): Action[] {
  const active = jobs
    .filter((job) => !isFinished(job))
    .map(({ apiVersion, kind, metadata: { namespace, name, uid } }) => ({ apiVersion, kind, namespace, name, uid }))
    .sort((a, b) => a.name.localeCompare(b.name));
  const successes = jobs.filter((job) => hasCondition(job.status?.conditions, 'Complete')).map((job) => job.status?.completionTime ?? '');
  const { lastScheduleTime, lastSuccessfulTime } = cronJob.status ?? {};
  const status = {
    active: active.length === 0 ? undefined : active,
    lastScheduleTime: startedAt === undefined ? lastScheduleTime : timestamp(startedAt),
    lastSuccessfulTime: [lastSuccessfulTime ?? '', ...successes].sort().at(-1) || undefined,
  };
  const patch = diffAsMergePatch(cronJob.status ?? {}, status);
  if (patch === undefined) return [];
  const { resourceVersion } = cronJob.metadata;
  const because = `${active.length} run`;
  return [{ do: 'patch', target: refOf(cronJob), subresource: 'status', patch: { status: patch }, resourceVersion, because }];
}
