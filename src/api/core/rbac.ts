/** ClusterRole, as far as it is put together from others. */
import type { LabelSelector } from '../../base/selectors.ts';
import type { KubeObject } from '../meta.ts';
import type { Resource } from '../resource.ts';

export type ClusterRole = KubeObject & {
  readonly kind: 'ClusterRole';
  readonly rules?: readonly object[] | null;
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly LabelSelector[] };
};

export const CLUSTER_ROLES: Resource<ClusterRole> = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'clusterroles',
  kind: 'ClusterRole',
  isNamespaced: false,
};
