/** What all workload controllers read, once for all of them: one copy of the Pods of a cluster is enough. */
import { CONTROLLER_REVISIONS } from '../../api/core/controller-revision.ts';
import { DAEMON_SETS } from '../../api/core/daemon-set.ts';
import { DEPLOYMENTS } from '../../api/core/deployment.ts';
import { HORIZONTAL_POD_AUTOSCALERS } from '../../api/core/horizontal-pod-autoscaler.ts';
import { CRON_JOBS, JOBS } from '../../api/core/job.ts';
import { NODES } from '../../api/core/node.ts';
import { PODS } from '../../api/core/pod.ts';
import { POD_DISRUPTION_BUDGETS } from '../../api/core/pod-disruption-budget.ts';
import { REPLICA_SETS } from '../../api/core/replica-set.ts';
import { STATEFUL_SETS } from '../../api/core/stateful-set.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '../../api/core/volume.ts';
import type { KubeObject } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { startCache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import { byController } from '../../reconcile/owner.ts';

export type WorkloadOptions = { readonly client: Client; readonly clock: Clock; readonly log: Logger; readonly signal: AbortSignal };

/** The index of a cache that finds objects by their namespace. */
export const BY_NAMESPACE = 'namespace';
const indexes = { ...byController, [BY_NAMESPACE]: ({ metadata }: KubeObject) => [metadata.namespace ?? ''] };

export type WorkloadCaches = ReturnType<typeof startWorkloadCaches>;

/** Starts to copy every kind that a workload controller looks at. */
export function startWorkloadCaches(options: WorkloadOptions) {
  return {
    pods: startCache({ ...options, resource: PODS, indexes }),
    replicaSets: startCache({ ...options, resource: REPLICA_SETS, indexes }),
    deployments: startCache({ ...options, resource: DEPLOYMENTS, indexes }),
    daemonSets: startCache({ ...options, resource: DAEMON_SETS, indexes }),
    cronJobs: startCache({ ...options, resource: CRON_JOBS }),
    jobs: startCache({ ...options, resource: JOBS, indexes }),
    nodes: startCache({ ...options, resource: NODES }),
    statefulSets: startCache({ ...options, resource: STATEFUL_SETS, indexes }),
    claims: startCache({ ...options, resource: PERSISTENT_VOLUME_CLAIMS, indexes }),
    autoscalers: startCache({ ...options, resource: HORIZONTAL_POD_AUTOSCALERS }),
    budgets: startCache({ ...options, resource: POD_DISRUPTION_BUDGETS, indexes }),
    revisions: startCache({ ...options, resource: CONTROLLER_REVISIONS, indexes }),
  };
}
