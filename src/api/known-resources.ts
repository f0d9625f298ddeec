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
import { KUBEVIRTS } from './kubevirt/kinds/kubevirt.ts';
import { OFFLINE_VMS } from './kubevirt/kinds/offline-virtual-machine.ts';
import { VMIRSS } from './kubevirt/kinds/replica-set.ts';
import { VMS } from './kubevirt/kinds/virtual-machine.ts';
import { VMIS } from './kubevirt/kinds/virtual-machine-instance.ts';
import { VMI_CONFIGS } from './kubevirt/kinds/vmi-config.ts';
import { apiVersionOf, type Resource } from './resource.ts';

const KNOWN: readonly Resource[] = [
  CONFIG_MAPS,
  CONTROLLER_REVISIONS,
  ENDPOINT_SLICES,
  EVENTS,
  KUBEVIRTS,
  LEASES,
  NAMESPACES,
  NODES,
  OFFLINE_VMS,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  SECRETS,
  SERVICE_ACCOUNTS,
  SERVICES,
  VMIRSS,
  VMIS,
  VMI_CONFIGS,
  VMS,
];
const BY_TYPE: ReadonlyMap<string, Resource> = new Map(KNOWN.map((resource) => [`${apiVersionOf(resource)} ${resource.kind}`, resource]));

/** The resource of an object or a reference, if it is of a kind that our components write. */
export function knownResource({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): Resource | undefined {
  return BY_TYPE.get(`${apiVersion} ${kind}`);
}
