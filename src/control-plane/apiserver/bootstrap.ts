/**
 * Creates what every cluster has, through the API itself, and mends it at every start: a default role has at least its rules,
 * a default binding at least its subjects, unless its owner has annotated it otherwise. What others added stays.
 */
import type { KubeObject } from '../../api/meta.ts';
import { ApiError } from '../../base/errors.ts';
import { deepEqual, isObject } from '../../base/json.ts';
import type { Store } from '../store/store.ts';
import { BOOTSTRAP_CLUSTER_ROLE_BINDINGS, BOOTSTRAP_CLUSTER_ROLES, SYSTEM_ROLES } from './access/bootstrap-roles-table.ts';
import { SYSTEM_PRIORITY_CLASSES } from './kinds/priority-class.ts';
import type { AnyObject } from './types/resource-type.ts';

export type SelfRequest = (method: string, path: string, body?: object) => Promise<Response>;

const NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease', 'kubevirt'];
const RBAC = 'rbac.authorization.k8s.io';
const AUTO_UPDATE = 'rbac.authorization.kubernetes.io/autoupdate';

/** Resolves when all of it is there. */
export async function bootstrap({ store, request }: { store: Store; request: SelfRequest }): Promise<void> {
  await Promise.all(NAMESPACES.map((name) => ensure({ store, request }, { prefix: 'core/namespaces/', wanted: namespaceNamed(name) })));
  await Promise.all([
    ...SYSTEM_PRIORITY_CLASSES.map((wanted) => ensure({ store, request }, { prefix: 'scheduling.k8s.io/priorityclasses/', wanted })),
    ...BOOTSTRAP_CLUSTER_ROLES.map((wanted) => ensure({ store, request }, { prefix: `${RBAC}/clusterroles/`, wanted })),
    ...BOOTSTRAP_CLUSTER_ROLE_BINDINGS.map((wanted) => ensure({ store, request }, { prefix: `${RBAC}/clusterrolebindings/`, wanted })),
    ...SYSTEM_ROLES.map((wanted) => ensure({ store, request }, { prefix: `${RBAC}/roles/`, wanted })),
  ]);
}

type Wanted = { readonly prefix: string; readonly wanted: KubeObject };

async function ensure({ store, request }: { store: Store; request: SelfRequest }, { prefix, wanted }: Wanted): Promise<void> {
  const { name, namespace } = wanted.metadata;
  const found = store.get(`${prefix}${namespace ?? ''}/${name}`)?.value as AnyObject | undefined; // every stored value is an object with metadata
  const patch = found && mending(found, wanted as AnyObject);
  if (found && !patch) return;
  const path = collectionPath(prefix, namespace);
  const response = await (found ? request('PATCH', `${path}/${encodeURIComponent(name)}`, patch) : request('POST', path, wanted));
  if (response.ok) return;
  const { message } = (await response.json()) as { readonly message: string }; // a Status of our own
  throw new ApiError('InternalError', `Cannot bring ${wanted.kind} ${name} about at start: ${message}`, { code: response.status });
}

/** What has to change for the object to be at least what is wanted; undefined when it is. */
function mending(found: AnyObject, wanted: AnyObject): object | undefined {
  if (wanted['rules'] === undefined && wanted['subjects'] === undefined) return undefined;
  if (found.metadata.annotations?.[AUTO_UPDATE] === 'false') return undefined;
  const isAggregated = wanted['aggregationRule'] !== undefined; // its rules are put together from others
  const complete = {
    ...found,
    metadata: { ...found.metadata, labels: { ...found.metadata.labels, ...wanted.metadata.labels } },
    ...(isAggregated && { aggregationRule: wanted['aggregationRule'] }),
    ...(wanted['rules'] !== undefined && !isAggregated && { rules: union(found['rules'], wanted['rules']) }),
    ...(wanted['subjects'] !== undefined && { subjects: union(found['subjects'], wanted['subjects']) }),
  };
  if (deepEqual(complete, found)) return undefined;
  const { metadata, rules, subjects, aggregationRule } = complete as AnyObject;
  return { metadata: { labels: metadata.labels }, rules, subjects, aggregationRule };
}

function union(found: unknown, wanted: unknown): unknown[] {
  const known = Array.isArray(found) ? found : [];
  const missing = Array.isArray(wanted) ? wanted.filter((each) => !known.some((other) => includes(other, each))) : [];
  return [...known, ...missing];
}

/** The stored one says everything that the wanted one says; the server may have filled in more. */
function includes(stored: unknown, wanted: unknown): boolean {
  if (!isObject(stored) || !isObject(wanted)) return deepEqual(stored, wanted);
  return Object.entries(wanted).every(([key, value]) => deepEqual(stored[key], value));
}

function collectionPath(prefix: string, namespace: string | undefined): string {
  const [group = '', plural = ''] = prefix.split('/');
  const root = group === 'core' ? '/api/v1' : `/apis/${group}/v1`;
  return `${root}${namespace === undefined ? '' : `/namespaces/${namespace}`}/${plural}`;
}

function namespaceNamed(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}
