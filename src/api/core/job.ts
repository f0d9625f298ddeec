/** Job: Pods that run to their end, so many times; CronJob: Jobs by the clock. */
import type { LabelSelector } from '../../base/selectors.ts';
import type { Condition, KubeObject, ObjectMeta } from '../meta.ts';
import type { Resource } from '../resource.ts';
import type { PodTemplate } from './pod-template.ts';

export type JobStatus = {
  readonly startTime?: string;
  readonly completionTime?: string;
  readonly active?: number;
  readonly ready?: number;
  readonly terminating?: number;
  readonly succeeded?: number;
  readonly failed?: number;
  readonly completedIndexes?: string;
  /** Pods that have ended and are not in the numbers above yet: a crash between the two counts nothing twice. */
  readonly uncountedTerminatedPods?: { readonly succeeded?: readonly string[]; readonly failed?: readonly string[] };
  readonly conditions?: readonly Condition[];
};
export type JobSpec = {
  readonly parallelism?: number;
  readonly completions?: number;
  readonly completionMode?: 'NonIndexed' | 'Indexed';
  readonly backoffLimit?: number;
  readonly activeDeadlineSeconds?: number;
  readonly ttlSecondsAfterFinished?: number;
  readonly suspend?: boolean;
  readonly manualSelector?: boolean;
  readonly selector?: LabelSelector;
  readonly template: PodTemplate;
};
export type Job = KubeObject & { readonly kind: 'Job'; readonly spec: JobSpec; readonly status?: JobStatus };

export const JOBS: Resource<Job> = { group: 'batch', version: 'v1', plural: 'jobs', kind: 'Job', isNamespaced: true };

export type CronJobStatus = {
  readonly active?: readonly {
    readonly apiVersion?: string;
    readonly kind?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
  }[];
  readonly lastScheduleTime?: string;
  readonly lastSuccessfulTime?: string;
};
export type CronJob = KubeObject & {
  readonly kind: 'CronJob';
  readonly spec: {
    readonly schedule: string;
    readonly timeZone?: string;
    readonly startingDeadlineSeconds?: number;
    readonly concurrencyPolicy?: 'Allow' | 'Forbid' | 'Replace';
    readonly suspend?: boolean;
    readonly successfulJobsHistoryLimit?: number;
    readonly failedJobsHistoryLimit?: number;
    readonly jobTemplate: { readonly metadata?: Partial<ObjectMeta>; readonly spec: JobSpec };
  };
  readonly status?: CronJobStatus;
};

export const CRON_JOBS: Resource<CronJob> = { group: 'batch', version: 'v1', plural: 'cronjobs', kind: 'CronJob', isNamespaced: true };
