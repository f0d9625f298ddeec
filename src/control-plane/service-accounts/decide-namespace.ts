/**
 * What every namespace has. The rules:
 *
 *   the namespace is going                    nothing
 *   no ServiceAccount `default`               create it
 *   no ConfigMap `kube-root-ca.crt`           create it
 *   that ConfigMap says another authority     patch it
 */
import type { ConfigMap } from '../../api/core/configmap.ts';
import type { Namespace } from '../../api/core/namespace.ts';
import type { ServiceAccount } from '../../api/core/service-account.ts';
import { isDeleting, refOf } from '../../api/meta.ts';
import { type Decision, nothingToDo } from '../../reconcile/decision.ts';

export const DEFAULT_ACCOUNT = 'default';
export const ROOT_CA = 'kube-root-ca.crt';

export type ObservedNamespace = { readonly namespace: Namespace; readonly serviceAccount: ServiceAccount | undefined };
export type ObservedRootCa = { readonly namespace: Namespace; readonly configMap: ConfigMap | undefined; readonly ca: string };

/** Decides about the service account that Pods run as when they name none. */
export function decideServiceAccount({ namespace, serviceAccount }: ObservedNamespace): Decision {
  if (isDeleting(namespace) || serviceAccount) return nothingToDo;
  const metadata = { name: DEFAULT_ACCOUNT, namespace: namespace.metadata.name };
  const object: ServiceAccount = { apiVersion: 'v1', kind: 'ServiceAccount', metadata };
  return { actions: [{ do: 'create', object, because: 'every namespace has a default service account' }] };
}

/** Decides about the authority that Pods know the API server by. */
export function decideRootCa({ namespace, configMap, ca }: ObservedRootCa): Decision {
  if (isDeleting(namespace) || configMap?.data?.['ca.crt'] === ca) return nothingToDo;
  const data = { 'ca.crt': ca };
  if (configMap) {
    const because = 'it does not hold the authority of this cluster';
    return { actions: [{ do: 'patch', target: refOf(configMap), patch: { data }, because }] };
  }
  const annotations = {
    'kubernetes.io/description': 'Contains the certificate authority by which the API server is known inside the cluster.',
  };
  const metadata = { name: ROOT_CA, namespace: namespace.metadata.name, annotations };
  const object: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
  return { actions: [{ do: 'create', object, because: 'every namespace has the authority of the cluster' }] };
}
