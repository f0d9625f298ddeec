/** What `decide` looks at: one CronJob and its Jobs. */
import type { CronJob, Job } from '../../../api/core/job.ts';

export type ObservedCronJob = {
  readonly cronJob: CronJob;
  /** Jobs that it controls. */
  readonly jobs: readonly Job[];
  readonly now: number;
};
