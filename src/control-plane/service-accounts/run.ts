/** Three small controllers: the default service account and the root authority of every namespace, and roles made of others. */
import { CONFIG_MAPS } from '../../api/core/configmap.ts';
import { NAMESPACES } from '../../api/core/namespace.ts';
import { CLUSTER_ROLES } from '../../api/core/rbac.ts';
import { SERVICE_ACCOUNTS } from '../../api/core/service-account.ts';
import type { KubeObject } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { startCache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import { runController } from '../../reconcile/controller.ts';
import { changesOf } from '../../reconcile/source.ts';
import { decideAggregation, type ObservedRole } from './decide-aggregation.ts';
import {
  DEFAULT_ACCOUNT,
  decideRootCa,
  decideServiceAccount,
  type ObservedNamespace,
  type ObservedRootCa,
  ROOT_CA,
} from './decide-namespace.ts';

export type ServiceAccountsOptions = { readonly client: Client; readonly clock: Clock; readonly log: Logger; readonly signal: AbortSignal };

const nameOf = ({ metadata }: KubeObject) => [metadata.name];
const namespaceOf = ({ metadata }: KubeObject) => [metadata.namespace ?? ''];

/** Gives every namespace its default ServiceAccount until the signal aborts. */
export async function runDefaultServiceAccounts(options: ServiceAccountsOptions): Promise<void> {
  const namespaces = startCache({ ...options, resource: NAMESPACES });
  const accounts = startCache({ ...options, resource: SERVICE_ACCOUNTS, fieldSelector: `metadata.name=${DEFAULT_ACCOUNT}` });
  await runController<ObservedNamespace>({
    ...options,
    name: 'serviceaccount-controller',
    triggers: [changesOf(namespaces, nameOf), changesOf(accounts, namespaceOf)],
    observe: (key) => {
      const namespace = namespaces.get(key);
      return namespace && { namespace, serviceAccount: accounts.get(`${key}/${DEFAULT_ACCOUNT}`) };
    },
    decide: decideServiceAccount,
    subject: ({ namespace }) => namespace,
  });
}

/** Publishes the authority of the API server in every namespace until the signal aborts. */
export async function runRootCaPublisher({ ca, ...options }: ServiceAccountsOptions & { readonly ca: string }): Promise<void> {
  const namespaces = startCache({ ...options, resource: NAMESPACES });
  const configMaps = startCache({ ...options, resource: CONFIG_MAPS, fieldSelector: `metadata.name=${ROOT_CA}` });
  await runController<ObservedRootCa>({
    ...options,
    name: 'root-ca-certificate-publisher',
    triggers: [changesOf(namespaces, nameOf), changesOf(configMaps, namespaceOf)],
    observe: (key) => {
      const namespace = namespaces.get(key);
      return namespace && { namespace, configMap: configMaps.get(`${key}/${ROOT_CA}`), ca };
    },
    decide: decideRootCa,
    subject: ({ namespace }) => namespace,
  });
}

/** Keeps the rules of aggregated ClusterRoles what their parts say until the signal aborts. */
export async function runRoleAggregation(options: ServiceAccountsOptions): Promise<void> {
  const roles = startCache({ ...options, resource: CLUSTER_ROLES });
  const aggregated = () => roles.list().filter(({ aggregationRule }) => aggregationRule !== undefined);
  await runController<ObservedRole>({
    ...options,
    name: 'clusterrole-aggregation-controller',
    // A role may be part of any other: there are few of these, and looking at one costs nothing.
    triggers: [changesOf(roles, () => aggregated().flatMap(nameOf))],
    observe: (key) => {
      const role = roles.get(key);
      return role && { role, all: roles.list() };
    },
    decide: decideAggregation,
    subject: ({ role }) => role,
    workers: 1,
    resourceOf: () => CLUSTER_ROLES,
  });
}
