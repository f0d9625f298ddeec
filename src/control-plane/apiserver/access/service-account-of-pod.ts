/** New Pods run as a service account that exists, and get its token unless somebody does not want that. */
import type { Container, Pod } from '../../../api/core/pod.ts';
import { SERVICE_ACCOUNT_MOUNT_PATH } from '../../../api/core/service-account-mount.ts';
import type { Store } from '../../store/store.ts';
import { generatedName } from '../objects/object-meta.ts';
import { forbidden } from '../response/api-errors.ts';
import type { AdmissionAttributes, ServerParts } from '../server-parts.ts';
import type { AnyObject } from '../types/resource-type.ts';

const MIRROR = 'kubernetes.io/config.mirror';
/** One hour and a bit, by which those who care recognise a token that may be renewed for longer. */
const TOKEN_SECONDS = 3607;
/** A namespace and its default service account come one after the other; whoever is quick waits this long for the second. */
const PATIENCE_MS = 1_000;

type Request = AdmissionAttributes & { readonly object: AnyObject };

/** The Pod with its service account's token and pull secrets; other objects as they are. Forbidden when there is no such service account. */
export async function withServiceAccount({ store, tokens }: Pick<ServerParts, 'store' | 'tokens'>, request: Request): Promise<AnyObject> {
  const { type, operation, object, namespace = '' } = request;
  const isNewPod = type.group === '' && type.plural === 'pods' && operation === 'CREATE' && request.subresource === undefined;
  if (!tokens || !isNewPod || object.metadata.annotations?.[MIRROR] !== undefined) return object;
  const { spec } = object as unknown as Pod; // the strategy of Pods has looked at it
  const name = spec.serviceAccountName || 'default';
  const serviceAccount = await find(store, `core/serviceaccounts/${namespace}/${name}`, request.signal);
  if (!serviceAccount) {
    const why = `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`;
    throw forbidden(type, request.name, why);
  }
  const pullSecrets = serviceAccount['imagePullSecrets'];
  const complete = {
    ...(spec as object),
    ...(!('imagePullSecrets' in spec) && pullSecrets !== undefined && { imagePullSecrets: pullSecrets }),
  };
  const wantsToken = spec.automountServiceAccountToken ?? serviceAccount['automountServiceAccountToken'] ?? true;
  return { ...object, spec: wantsToken ? withToken(complete as Pod['spec']) : complete };
}

async function find(store: Store, key: string, signal: AbortSignal): Promise<AnyObject | undefined> {
  const read = () => store.get(key)?.value as AnyObject | undefined; // every stored value has metadata
  const found = read();
  if (found) return found;
  const { promise, resolve } = Promise.withResolvers<void>();
  const patience = setTimeout(resolve, PATIENCE_MS);
  const leave = () => resolve();
  signal.addEventListener('abort', leave, { once: true });
  const stop = store.watch(key, store.revision, leave);
  await promise;
  stop();
  clearTimeout(patience);
  signal.removeEventListener('abort', leave);
  return read();
}

/** Every container that has nothing else in that place gets the token, the authority of the API server and the namespace. */
function withToken(spec: Pod['spec']): object {
  const name = generatedName('kube-api-access-');
  const needsIt = ({ volumeMounts = [] }: Container) => !volumeMounts.some(({ mountPath }) => mountPath === SERVICE_ACCOUNT_MOUNT_PATH);
  const mounted = (container: Container) =>
    needsIt(container)
      ? { ...container, volumeMounts: [...(container.volumeMounts ?? []), { name, mountPath: SERVICE_ACCOUNT_MOUNT_PATH, readOnly: true }] }
      : container;
  const all = [...spec.containers, ...(spec.initContainers ?? [])];
  if (!all.some(needsIt)) return spec;
  return {
    ...spec,
    containers: spec.containers.map(mounted),
    ...(spec.initContainers && { initContainers: spec.initContainers.map(mounted) }),
    volumes: [...(spec.volumes ?? []), { name, projected: { defaultMode: 0o644, sources: SOURCES } }],
  };
}

const SOURCES = [
  { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
  { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
  { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
];
