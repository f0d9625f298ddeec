/** Which Resource a kind is: for code that holds an object or a reference and needs its URL. */
import { CONFIG_MAPS } from './core/configmap.ts';
import { CONTROLLER_REVISIONS } from './core/controller-revision.ts';
import { ENDPOINT_SLICES } from './core/endpoint-slice.ts';
import { EVENTS } from './core/event.ts';
import { LEASES } from './core/lease.ts';
import { NAMESPACES } from './core/namespace.ts';
import { NODES } from './core/node.ts';
import { PODS } from './core/pod.ts';
import { SECRETS } from './core/secret.ts';
import { SERVICES } from './core/service.ts';
import { SERVICE_ACCOUNTS } from './core/service-account.ts';
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from './core/volume.ts';
import { KINDS } from './kubevirt/kinds-table.ts';
import { apiVersionOf, type Resource } from './resource.ts';

/** The kinds of Kubernetes that our components write. */
const KUBERNETES: readonly Resource[] = [
  CONFIG_MAPS,
  CONTROLLER_REVISIONS,
  ENDPOINT_SLICES,
  EVENTS,
  LEASES,
  NAMESPACES,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  SECRETS,
  SERVICE_ACCOUNTS,
  SERVICES,
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
