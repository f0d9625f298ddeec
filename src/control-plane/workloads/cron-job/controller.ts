/** Makes the Jobs of every CronJob when their time comes. */
import { CRON_JOBS } from '../../../api/core/job.ts';
import { keyOf } from '../../../api/meta.ts';
import { runController } from '../../../reconcile/controller.ts';
import { BY_CONTROLLER, ownerKeysOf } from '../../../reconcile/owner.ts';
import { changesOf } from '../../../reconcile/source.ts';
import type { WorkloadCaches, WorkloadOptions } from '../caches.ts';
import { decideCronJob } from './decide.ts';
import type { ObservedCronJob } from './observed.ts';

/** Runs until the signal aborts. */
export function runCronJobs(options: WorkloadOptions & Pick<WorkloadCaches, 'cronJobs' | 'jobs'>): Promise<void> {
  const { clock, cronJobs, jobs } = options;
  return runController<ObservedCronJob>({
    ...options,
    name: 'cronjob-controller',
    triggers: [changesOf(cronJobs, ({ metadata }) => [keyOf(metadata)]), changesOf(jobs, ownerKeysOf(CRON_JOBS.kind))],
    observe: (key) => {
      const cronJob = cronJobs.get(key);
      return cronJob && { cronJob, jobs: jobs.byIndex(BY_CONTROLLER, cronJob.metadata.uid ?? ''), now: clock.now() };
    },
    decide: decideCronJob,
    subject: ({ cronJob }) => cronJob,
  });
}
