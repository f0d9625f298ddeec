/** Runs the Pods of every Job to their end, removes Jobs whose time is over, and lets go of Pods whose Job is gone. */
import { JOBS } from '../../../api/core/job.ts';
import type { Pod } from '../../../api/core/pod.ts';
import { controllerOf, type KubeObject, keyOf } from '../../../api/meta.ts';
import { runController } from '../../../reconcile/controller.ts';
import { changesOf } from '../../../reconcile/source.ts';
import type { WorkloadCaches, WorkloadOptions } from '../caches.ts';
import { familyOf, ownersOf } from '../candidates.ts';
import { decideJob } from './decide.ts';
import { decideLostPod, type ObservedLostPod } from './decide-lost-pod.ts';
import { decideTtl, type ObservedTtl } from './decide-ttl.ts';
import type { ObservedJob } from './observed.ts';
import { isTracked } from './tally.ts';

type JobOptions = WorkloadOptions & Pick<WorkloadCaches, 'pods' | 'jobs'>;
const keysOf = ({ metadata }: KubeObject) => [keyOf(metadata)];

/** Runs until the signal aborts. */
export async function runJobs(options: JobOptions): Promise<void> {
  const { client, clock, pods, jobs } = options;
  const jobController = runController<ObservedJob>({
    ...options,
    name: 'job-controller',
    triggers: [changesOf(jobs, keysOf), changesOf(pods, ownersOf(jobs))],
    observe: async (key) => {
      const job = jobs.get(key);
      if (!job) return undefined;
      const { revisions: _, ...family } = await familyOf({ client, resource: JOBS, owner: job, pods });
      return { job, ...family, now: clock.now() };
    },
    decide: decideJob,
    subject: ({ job }) => job,
  });
  const lostPods = runController<ObservedLostPod>({
    ...options,
    name: 'job-controller',
    triggers: [
      changesOf(pods, (pod) => (isTracked(pod) && !jobOf(pod) ? [keyOf(pod.metadata)] : [])),
      changesOf(jobs, (job) => pods.byIndex('controller', job.metadata.uid ?? '').map(({ metadata }) => keyOf(metadata))),
    ],
    observe: async (key) => {
      const pod = pods.get(key);
      if (!pod || !isTracked(pod)) return undefined;
      return { pod, hasJob: jobOf(pod) !== undefined || (await isKnown(pod)) };
    },
    decide: decideLostPod,
    subject: ({ pod }) => pod,
  });
  await Promise.all([jobController, lostPods]);

  function jobOf(pod: Pod) {
    const owner = controllerOf(pod);
    const job = owner?.kind === JOBS.kind ? jobs.get(keyOf({ namespace: pod.metadata.namespace, name: owner.name })) : undefined;
    return job?.metadata.uid === owner?.uid ? job : undefined;
  }

  /** Our copies of Pods and of Jobs come by different ways: that a Job is gone is asked of the server. */
  async function isKnown(pod: Pod): Promise<boolean> {
    const owner = controllerOf(pod);
    if (owner?.kind !== JOBS.kind) return false;
    const job = await client.get(JOBS, { namespace: pod.metadata.namespace, name: owner.name });
    return job?.metadata.uid === owner.uid;
  }
}

/** Removes Jobs that have ended when their time has come; runs until the signal aborts. */
export function runJobTtl(options: JobOptions): Promise<void> {
  const { clock, jobs } = options;
  return runController<ObservedTtl>({
    ...options,
    name: 'ttl-after-finished-controller',
    triggers: [changesOf(jobs, keysOf)],
    observe: (key) => {
      const job = jobs.get(key);
      return job && { job, now: clock.now() };
    },
    decide: decideTtl,
    subject: ({ job }) => job,
  });
}
