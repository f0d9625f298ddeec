/** Which Resource a kind is: for code that holds an object or a reference and needs its URL. */
import { CONFIG_MAPS } from './core/configmap.ts';
import { CONTROLLER_REVISIONS } from './core/controller-revision.ts';
import { DAEMON_SETS } from './core/daemon-set.ts';
import { DEPLOYMENTS } from './core/deployment.ts';
import { ENDPOINT_SLICES } from './core/endpoint-slice.ts';
import { ENDPOINTS } from './core/endpoints.ts';
import { EVENTS } from './core/event.ts';
import { HORIZONTAL_POD_AUTOSCALERS } from './core/horizontal-pod-autoscaler.ts';
import { CRON_JOBS, JOBS } from './core/job.ts';
import { LEASES } from './core/lease.ts';
import { NAMESPACES } from './core/namespace.ts';
import { NODES } from './core/node.ts';
import { PODS } from './core/pod.ts';
import { POD_DISRUPTION_BUDGETS } from './core/pod-disruption-budget.ts';
import { REPLICA_SETS } from './core/replica-set.ts';
import { SECRETS } from './core/secret.ts';
import { SERVICES } from './core/service.ts';
import { SERVICE_ACCOUNTS } from './core/service-account.ts';
import { STATEFUL_SETS } from './core/stateful-set.ts';
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from './core/volume.ts';
import { VOLUME_SNAPSHOTS } from './core/volume-snapshot.ts';
import { KINDS } from './kubevirt/kinds-table.ts';
import { apiVersionOf, type Resource } from './resource.ts';

/** The kinds of Kubernetes that our components write. */
const KUBERNETES: readonly Resource[] = [
  CONFIG_MAPS,
  CONTROLLER_REVISIONS,
  CRON_JOBS,
  DAEMON_SETS,
  DEPLOYMENTS,
  ENDPOINT_SLICES,
  ENDPOINTS,
  EVENTS,
  HORIZONTAL_POD_AUTOSCALERS,
  JOBS,
  LEASES,
  NAMESPACES,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  POD_DISRUPTION_BUDGETS,
  PODS,
  REPLICA_SETS,
  SECRETS,
  SERVICE_ACCOUNTS,
  SERVICES,
  STATEFUL_SETS,
  VOLUME_SNAPSHOTS,
];
const BY_TYPE = byType([...KUBERNETES, ...KINDS]);

/** The resource of an object or a reference, if it is of a kind that our components write. */
export function knownResource({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): Resource | undefined {
  return BY_TYPE.get(`${apiVersion} ${kind}`);
}

/** Resources by the type of their objects. */
export function byType(resources: readonly Resource[]): ReadonlyMap<string, Resource> {
  return new Map(resources.map((resource) => [`${apiVersionOf(resource)} ${resource.kind}`, resource]));
}
