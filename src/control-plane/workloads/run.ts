/** The workload controllers of the embedded cluster: each acts as a service account of its own, all read through one pair of eyes. */
import { runAutoscalers } from './autoscaler/controller.ts';
import { startWorkloadCaches, type WorkloadOptions } from './caches.ts';
import { runCronJobs } from './cron-job/controller.ts';
import { runDaemonSets } from './daemon-set/controller.ts';
import { runDeployments } from './deployment/controller.ts';
import { runDisruptionBudgets } from './disruption-budget/controller.ts';
import { runJobs, runJobTtl } from './job/controller.ts';
import { runReplicaSets } from './replica-set/controller.ts';
import { runStatefulSets } from './stateful-set/controller.ts';

/** Who reads for all of them, as in Kubernetes. */
export const WORKLOAD_READER = 'system:kube-controller-manager';

export type WorkloadsOptions = {
  readonly reader: WorkloadOptions;
  /** What a controller works with, given its service account in kube-system. */
  readonly as: (account: string) => WorkloadOptions;
};

/** Runs all of them until the signal aborts; resolves when the last has finished what it was doing. */
export async function runWorkloads({ reader, as }: WorkloadsOptions): Promise<void> {
  const caches = startWorkloadCaches(reader);
  await Promise.all([
    runAutoscalers({ ...as('horizontal-pod-autoscaler'), ...caches }),
    runReplicaSets({ ...as('replicaset-controller'), ...caches }),
    runCronJobs({ ...as('cronjob-controller'), ...caches }),
    runDaemonSets({ ...as('daemon-set-controller'), ...caches }),
    runDeployments({ ...as('deployment-controller'), ...caches }),
    runDisruptionBudgets({ ...as('disruption-controller'), ...caches }),
    runJobs({ ...as('job-controller'), ...caches }),
    runStatefulSets({ ...as('statefulset-controller'), ...caches }),
    runJobTtl({ ...as('ttl-after-finished-controller'), ...caches }),
  ]);
}
