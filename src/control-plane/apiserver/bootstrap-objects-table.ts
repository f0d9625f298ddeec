/** Objects that every cluster has from its first start. */
import type { KubeObject } from '../../api/meta.ts';

export const NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease', 'kubevirt'];

const RBAC = 'rbac.authorization.k8s.io/v1';
const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'delete', 'deletecollection', 'patch', 'update'];
const CORE_READ = [
  'configmaps',
  'endpoints',
  'events',
  'limitranges',
  'persistentvolumeclaims',
  'pods',
  'pods/log',
  'pods/status',
  'replicationcontrollers',
  'resourcequotas',
  'serviceaccounts',
  'services',
];
const CORE_WRITE = [
  'configmaps',
  'endpoints',
  'persistentvolumeclaims',
  'pods',
  'pods/attach',
  'pods/exec',
  'pods/portforward',
  'pods/eviction',
  'secrets',
  'serviceaccounts',
  'services',
];
const WORKLOAD_GROUPS = ['apps', 'batch', 'autoscaling', 'networking.k8s.io', 'policy', 'discovery.k8s.io', 'coordination.k8s.io'];

type Role = KubeObject & { readonly rules: readonly object[]; readonly aggregationRule?: object };

const viewRules = [
  { apiGroups: [''], resources: [...CORE_READ, 'namespaces'], verbs: READ },
  { apiGroups: WORKLOAD_GROUPS, resources: ['*'], verbs: READ },
];
const editRules = [
  ...viewRules,
  { apiGroups: [''], resources: CORE_WRITE, verbs: [...READ, ...WRITE] },
  { apiGroups: WORKLOAD_GROUPS, resources: ['*'], verbs: WRITE },
];
const adminRules = [
  ...editRules,
  { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles', 'rolebindings'], verbs: [...READ, ...WRITE] },
];

export const CLUSTER_ROLES: readonly Role[] = [
  role('cluster-admin', [
    { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
    { nonResourceURLs: ['*'], verbs: ['*'] },
  ]),
  role('admin', adminRules),
  role('edit', editRules),
  role('view', viewRules),
];

function role(name: string, rules: readonly object[]): Role {
  const labels = { 'kubernetes.io/bootstrapping': 'rbac-defaults' };
  return { apiVersion: RBAC, kind: 'ClusterRole', metadata: { name, labels }, rules };
}

export function namespaceNamed(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}
