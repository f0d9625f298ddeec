/**
 * What a role cannot say: a node has only to do with what is its own. All nodes hold the same role; here their name counts.
 *
 *   Secrets, ConfigMaps      read those that a Pod it runs references (see pod-references.ts)
 *   claims and their volumes the same
 *   nodes                    write its own
 *   leases                   write the one of its name in kube-node-lease
 *   Pods                     write those it runs; of new ones only mirrors of what it runs anyway, which reference nothing
 *   service account tokens   bound to a Pod that it runs (see subresources/token.ts)
 */
import type { Pod } from '../../../api/core/pod.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../api/core/volume.ts';
import type { KubeObject } from '../../../api/meta.ts';
import { forbidden } from '../response/api-errors.ts';
import type { AdmissionAttributes, ServerParts } from '../server-parts.ts';
import type { Identity } from '../transport/identity.ts';
import type { AnyObject } from '../types/resource-type.ts';
import { type PodReference, referencesOf } from './pod-references.ts';
import type { Attributes } from './policy-rule.ts';

const NODES_GROUP = 'system:nodes';
const NODE_USER = 'system:node:';
const MOUNTED: readonly string[] = ['secrets', 'configmaps', 'persistentvolumeclaims', 'persistentvolumes'];
const MIRROR = 'kubernetes.io/config.mirror';

/** The node that makes the request, undefined when it is not a node. */
export function nodeOf({ user, groups }: Identity): string | undefined {
  return user.startsWith(NODE_USER) && groups.includes(NODES_GROUP) ? user.slice(NODE_USER.length) : undefined;
}

/** Throws Forbidden when a node writes what belongs to another one. */
export function assertOwnOfNode(request: AdmissionAttributes): void {
  const node = nodeOf(request.identity);
  if (node === undefined) return;
  const { type, name } = request;
  const refusal = REFUSALS[`${type.group}/${type.plural}`]?.(request, node);
  if (refusal) throw forbidden(type, name, `node "${node}" ${refusal}`);
}

/** Throws Forbidden when a node reads what none of its Pods has to do with. */
export function assertNodeMayRead(parts: Parts, identity: Identity, attributes: Attributes): void {
  const node = nodeOf(identity);
  if (node === undefined || attributes.type === 'path' || attributes.group !== '' || !MOUNTED.includes(attributes.resource)) return;
  const { resource, group, namespace, name } = attributes;
  if (name !== undefined && isFetchedBy(node, parts, { resource, namespace, name })) return;
  throw forbidden({ plural: resource, group }, name, `no relationship found between node "${node}" and this object`);
}

type Parts = Pick<ServerParts, 'podsOfNodes' | 'store'>;
type Asked = { readonly resource: string; readonly namespace: string | undefined; readonly name: string };

function isFetchedBy(node: string, parts: Parts, asked: Asked): boolean {
  if (asked.resource === 'persistentvolumes') return isVolumeOf(node, parts, asked.name);
  const isIt = (reference: PodReference) => reference.resource === asked.resource && reference.name === asked.name;
  for (const pod of parts.podsOfNodes.of(node, asked.namespace ?? '')) if (!isMirror(pod) && referencesOf(pod).some(isIt)) return true;
  return false;
}

/** Volume and claim have to name each other: a claim is written by whoever may make one, and can name any volume. */
function isVolumeOf(node: string, parts: Parts, name: string): boolean {
  const volume = parts.store.get(`core/persistentvolumes//${name}`)?.value as PersistentVolume | undefined; // checked by the schema
  const { namespace = '', name: claimName = '' } = volume?.spec.claimRef ?? {};
  const claim = parts.store.get(`core/persistentvolumeclaims/${namespace}/${claimName}`)?.value as PersistentVolumeClaim | undefined; // as above
  return claim?.spec.volumeName === name && isFetchedBy(node, parts, { resource: 'persistentvolumeclaims', namespace, name: claimName });
}

type Refusal = (request: AdmissionAttributes, node: string) => string | undefined;

const REFUSALS: Readonly<Record<string, Refusal>> = {
  '/nodes': ({ name }, node) => (name === node ? undefined : 'is not allowed to modify another node'),
  'coordination.k8s.io/leases': ({ namespace, name }, node) =>
    namespace === 'kube-node-lease' && name === node
      ? undefined
      : 'can only access its own lease in the "kube-node-lease" system namespace',
  '/pods': ({ operation, object, oldObject }, node) => {
    if (nodeNameOf(oldObject ?? object) !== node) return 'can only write Pods with spec.nodeName set to itself';
    if (operation !== 'CREATE') return undefined;
    return object && isMirror(object) ? whatMirrorMentions(object) : 'can only create mirror Pods';
  },
};

/** True for a Pod that only stands for what a node runs anyway. */
export function isMirror({ metadata }: Pick<KubeObject, 'metadata'>): boolean {
  return metadata.annotations?.[MIRROR] !== undefined;
}

/** A mirror Pod may not be the reason why a node gets to read something of the cluster. */
function whatMirrorMentions(object: AnyObject): string | undefined {
  const { spec } = object as unknown as Pod; // only Pods come here
  const { imagePullSecrets = [] } = spec as { imagePullSecrets?: readonly object[] };
  const containers = [...spec.containers, ...(spec.initContainers ?? [])] as readonly Sourced[];
  const named = Object.entries({
    'service accounts': spec.serviceAccountName !== undefined && spec.serviceAccountName !== 'default',
    volumes: (spec.volumes ?? []).some((volume) => !volume.emptyDir && !volume.hostPath),
    'image pull secrets': imagePullSecrets.length > 0,
    'variables from other objects': containers.some(
      ({ env = [], envFrom = [] }) =>
        envFrom.length > 0 || env.some(({ valueFrom }) => valueFrom?.secretKeyRef || valueFrom?.configMapKeyRef),
    ),
    'resource claims': 'resourceClaims' in spec,
  }).find(([, isNamed]) => isNamed);
  return named && `can not create mirror Pods that reference ${named[0]}`;
}

type Sourced = {
  readonly env?: readonly { readonly valueFrom?: { readonly secretKeyRef?: object; readonly configMapKeyRef?: object } }[];
  readonly envFrom?: readonly object[];
};

function nodeNameOf(object: AnyObject | undefined): string | undefined {
  return (object as unknown as Pod | undefined)?.spec.nodeName; // only Pods come here
}
