/**
 * The roles every cluster has, and whom they are bound to. People get `view`, `edit` and `admin`, which are put together from
 * whatever carries the matching label; the parts of the control plane get what their loops need and nothing else.
 */
import type { KubeObject } from '../../../api/meta.ts';
import type { PolicyRule } from './policy-rule.ts';

export type Role = KubeObject & { readonly rules: readonly PolicyRule[]; readonly aggregationRule?: object };
export type RoleBinding = KubeObject & { readonly roleRef: object; readonly subjects: readonly object[] };

const GROUP = 'rbac.authorization.k8s.io';
const API_VERSION = `${GROUP}/v1`;
const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'delete', 'deletecollection', 'patch', 'update'];
const PUBLIC_URLS = ['/healthz', '/livez', '/readyz', '/version', '/version/'];

/** `resources` is one word per resource, with the subresources that come along: `deployments+scale+status`. */
function rule(group: string, resources: string, verbs: readonly string[]): PolicyRule {
  const names = resources.split(' ').flatMap((each) => {
    const [resource = '', ...subresources] = each.split('+');
    return [resource, ...subresources.map((subresource) => `${resource}/${subresource}`)];
  });
  return { apiGroups: [group], resources: names, verbs };
}

const EVENT_RULES = [
  rule('', 'events', ['get', 'create', 'patch', 'update']),
  rule('events.k8s.io', 'events', ['create', 'patch', 'update']),
];

const WORKLOADS: readonly (readonly [group: string, read: string, write: string])[] = [
  [
    'apps',
    'controllerrevisions daemonsets+status deployments+scale+status replicasets+scale+status statefulsets+scale+status',
    'daemonsets deployments+rollback+scale replicasets+scale statefulsets+scale',
  ],
  ['autoscaling', 'horizontalpodautoscalers+status', 'horizontalpodautoscalers'],
  ['batch', 'cronjobs+status jobs+status', 'cronjobs jobs'],
  ['policy', 'poddisruptionbudgets+status', 'poddisruptionbudgets'],
  ['networking.k8s.io', 'ingresses+status networkpolicies', 'ingresses networkpolicies'],
];
const CORE_READ =
  'bindings configmaps endpoints events limitranges namespaces+status persistentvolumeclaims+status pods+log+status replicationcontrollers+scale+status resourcequotas+status serviceaccounts services+status';
const CORE_WRITE =
  'configmaps events persistentvolumeclaims pods+attach+exec+portforward+proxy replicationcontrollers+scale secrets serviceaccounts services+proxy';

const VIEW_RULES = [
  rule('', CORE_READ, READ),
  ...WORKLOADS.map(([group, read]) => rule(group, read, READ)),
  rule('discovery.k8s.io', 'endpointslices', READ),
];
const EDIT_RULES = [
  // Whoever may run a Pod as a service account could act as it anyway.
  rule('', 'serviceaccounts', ['impersonate']),
  { apiGroups: [''], resources: ['serviceaccounts/token', 'pods/eviction'], verbs: ['create'] },
  { apiGroups: [''], resources: ['pods/attach', 'pods/exec', 'pods/portforward', 'pods/proxy', 'secrets', 'services/proxy'], verbs: READ },
  rule('', CORE_WRITE, WRITE),
  ...WORKLOADS.map(([group, , write]) => rule(group, write, WRITE)),
  rule('coordination.k8s.io', 'leases', [...READ, ...WRITE]),
];
const ADMIN_RULES = [
  rule('authorization.k8s.io', 'localsubjectaccessreviews', ['create']),
  rule(GROUP, 'rolebindings roles', [...READ, ...WRITE]),
];

/** A kubelet: its own node and lease, the Pods it runs, and what these mount. Which of them are its own is judged by node-restriction.ts. */
const NODE_RULES = [
  rule('authentication.k8s.io', 'tokenreviews', ['create']),
  rule('authorization.k8s.io', 'subjectaccessreviews localsubjectaccessreviews', ['create']),
  rule('', 'services', READ),
  rule('', 'nodes', [...READ, 'create', 'update', 'patch']),
  { apiGroups: [''], resources: ['nodes/status', 'pods/status'], verbs: ['update', 'patch'] },
  rule('', 'pods', [...READ, 'create', 'delete']),
  { apiGroups: [''], resources: ['pods/eviction', 'serviceaccounts/token'], verbs: ['create'] },
  rule('', 'configmaps secrets persistentvolumeclaims persistentvolumes', ['get']),
  ...EVENT_RULES,
  rule('coordination.k8s.io', 'leases', ['get', 'create', 'update', 'patch', 'delete']),
  rule('node.k8s.io', 'runtimeclasses', READ),
  rule('storage.k8s.io', 'csidrivers csinodes volumeattachments', READ),
];

const SCHEDULER_RULES = [
  ...EVENT_RULES,
  rule('', 'nodes namespaces services replicationcontrollers persistentvolumes', READ),
  rule('', 'pods', [...READ, 'delete']),
  { apiGroups: [''], resources: ['bindings', 'pods/binding'], verbs: ['create'] },
  { apiGroups: [''], resources: ['pods/status'], verbs: ['patch', 'update'] },
  rule('', 'persistentvolumeclaims', [...READ, 'patch', 'update']),
  rule('apps', 'replicasets statefulsets', READ),
  rule('policy', 'poddisruptionbudgets', READ),
  rule('storage.k8s.io', 'csidrivers csinodes storageclasses csistoragecapacities volumeattachments', READ),
  rule('coordination.k8s.io', 'leases', ['get', 'create', 'update', 'list', 'watch']),
];

/** Reads for all controllers of the control plane; each writes by the rules of its own role. */
const CONTROLLER_MANAGER_RULES = [
  ...EVENT_RULES,
  rule('authentication.k8s.io', 'tokenreviews', ['create']),
  rule('authorization.k8s.io', 'subjectaccessreviews', ['create']),
  { apiGroups: ['*'], resources: ['*'], verbs: ['list', 'watch'] },
];

const POD_CONTROL = [rule('', 'pods', [...READ, 'create', 'delete', 'patch', 'update']), ...EVENT_RULES];
/** A workload controller owns its kind, and makes Pods or other workloads. */
function workloadRules(group: string, plural: string): PolicyRule[] {
  return [
    rule(group, plural, [...READ, 'patch', 'update']),
    { apiGroups: [group], resources: [`${plural}/status`], verbs: ['patch', 'update'] },
    { apiGroups: [group], resources: [`${plural}/finalizers`], verbs: ['update'] },
  ];
}

/** Controllers of the control plane, each a service account in kube-system. */
const CONTROLLERS: Readonly<Record<string, readonly PolicyRule[]>> = {
  'generic-garbage-collector': [{ apiGroups: ['*'], resources: ['*'], verbs: [...READ, 'patch', 'update', 'delete'] }, ...EVENT_RULES],
  'service-account-controller': [rule('', 'namespaces', READ), rule('', 'serviceaccounts', [...READ, 'create']), ...EVENT_RULES],
  'root-ca-cert-publisher': [rule('', 'namespaces', READ), rule('', 'configmaps', [...READ, 'create', 'update', 'patch']), ...EVENT_RULES],
  'clusterrole-aggregation-controller': [rule(GROUP, 'clusterroles', [...READ, 'escalate', 'patch', 'update']), ...EVENT_RULES],
  'replicaset-controller': [...workloadRules('apps', 'replicasets'), ...POD_CONTROL],
  'replication-controller': [...workloadRules('', 'replicationcontrollers'), ...POD_CONTROL],
  'deployment-controller': [
    ...workloadRules('apps', 'deployments'),
    rule('apps', 'replicasets', [...READ, 'create', 'delete', 'patch', 'update']),
    rule('', 'pods', [...READ, 'update']),
    ...EVENT_RULES,
  ],
  'daemon-set-controller': [
    ...workloadRules('apps', 'daemonsets'),
    rule('', 'nodes', READ),
    { apiGroups: [''], resources: ['pods/binding'], verbs: ['create'] },
    rule('apps', 'controllerrevisions', [...READ, 'create', 'delete', 'patch', 'update']),
    ...POD_CONTROL,
  ],
  'statefulset-controller': [
    ...workloadRules('apps', 'statefulsets'),
    rule('apps', 'controllerrevisions', [...READ, 'create', 'delete', 'patch', 'update']),
    rule('', 'persistentvolumeclaims', [...READ, 'create', 'delete', 'update']),
    ...POD_CONTROL,
  ],
  'job-controller': [...workloadRules('batch', 'jobs'), ...POD_CONTROL],
  'ttl-after-finished-controller': [rule('batch', 'jobs', [...READ, 'delete']), ...EVENT_RULES],
  'cronjob-controller': [
    ...workloadRules('batch', 'cronjobs'),
    rule('batch', 'jobs', [...READ, 'create', 'delete', 'patch', 'update']),
    rule('', 'pods', ['list', 'delete']),
    ...EVENT_RULES,
  ],
  'endpoint-controller': [
    rule('', 'pods services', READ),
    rule('', 'endpoints', [...READ, 'create', 'delete', 'patch', 'update']),
    { apiGroups: [''], resources: ['endpoints/restricted'], verbs: ['create'] },
    ...EVENT_RULES,
  ],
  'endpointslice-controller': [
    rule('', 'nodes pods services', READ),
    { apiGroups: [''], resources: ['services/finalizers'], verbs: ['update'] },
    rule('discovery.k8s.io', 'endpointslices', [...READ, 'create', 'delete', 'patch', 'update']),
    rule('', 'endpoints', [...READ, 'create', 'delete', 'patch', 'update']),
    ...EVENT_RULES,
  ],
  'persistent-volume-binder': [
    rule('', 'persistentvolumes', [...READ, 'create', 'delete', 'patch', 'update']),
    rule('', 'persistentvolumeclaims', [...READ, 'patch', 'update']),
    { apiGroups: [''], resources: ['persistentvolumes/status', 'persistentvolumeclaims/status'], verbs: ['patch', 'update'] },
    rule('storage.k8s.io', 'storageclasses', READ),
    rule('', 'pods nodes', READ),
    ...EVENT_RULES,
  ],
  'pvc-protection-controller': [rule('', 'persistentvolumeclaims', [...READ, 'patch', 'update']), rule('', 'pods', READ), ...EVENT_RULES],
  'pv-protection-controller': [rule('', 'persistentvolumes', [...READ, 'patch', 'update']), ...EVENT_RULES],
  'disruption-controller': [
    ...workloadRules('policy', 'poddisruptionbudgets'),
    rule('apps', 'deployments replicasets statefulsets', READ),
    rule('', 'pods replicationcontrollers', READ),
    ...EVENT_RULES,
  ],
  'horizontal-pod-autoscaler': [
    ...workloadRules('autoscaling', 'horizontalpodautoscalers'),
    { apiGroups: ['*'], resources: ['*/scale'], verbs: ['get', 'patch', 'update'] },
    rule('', 'pods', READ),
    rule('metrics.k8s.io', 'pods', ['get', 'list']),
    ...EVENT_RULES,
  ],
  'node-controller': [
    rule('', 'nodes', [...READ, 'patch', 'update']),
    { apiGroups: [''], resources: ['nodes/status', 'pods/status'], verbs: ['patch', 'update'] },
    rule('', 'pods', [...READ, 'delete']),
    rule('coordination.k8s.io', 'leases', READ),
    ...EVENT_RULES,
  ],
};

const AGGREGATED: readonly Role[] = [
  aggregated('view', VIEW_RULES, 'edit'),
  aggregated('edit', [...EDIT_RULES, ...VIEW_RULES], 'admin'),
  aggregated('admin', [...ADMIN_RULES, ...EDIT_RULES, ...VIEW_RULES]),
];

/** In the order in which they are made. */
export const BOOTSTRAP_CLUSTER_ROLES: readonly Role[] = [
  role('cluster-admin', [
    { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
    { nonResourceURLs: ['*'], verbs: ['*'] },
  ]),
  ...AGGREGATED,
  role('system:aggregate-to-view', VIEW_RULES, { [aggregateTo('view')]: 'true' }),
  role('system:aggregate-to-edit', EDIT_RULES, { [aggregateTo('edit')]: 'true' }),
  role('system:aggregate-to-admin', ADMIN_RULES, { [aggregateTo('admin')]: 'true' }),
  role('system:public-info-viewer', [{ nonResourceURLs: PUBLIC_URLS, verbs: ['get'] }]),
  role('system:discovery', [
    { nonResourceURLs: [...PUBLIC_URLS, '/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*'], verbs: ['get'] },
  ]),
  role('system:monitoring', [
    {
      nonResourceURLs: ['/metrics', '/metrics/slis', ...['healthz', 'livez', 'readyz'].flatMap((path) => [`/${path}`, `/${path}/*`])],
      verbs: ['get'],
    },
  ]),
  role('system:basic-user', [
    rule('authorization.k8s.io', 'selfsubjectaccessreviews selfsubjectrulesreviews', ['create']),
    rule('authentication.k8s.io', 'selfsubjectreviews', ['create']),
  ]),
  role('system:auth-delegator', [
    rule('authentication.k8s.io', 'tokenreviews', ['create']),
    rule('authorization.k8s.io', 'subjectaccessreviews', ['create']),
  ]),
  role('system:service-account-issuer-discovery', [
    {
      nonResourceURLs: ['/.well-known/openid-configuration', '/.well-known/openid-configuration/', '/openid/v1/jwks', '/openid/v1/jwks/'],
      verbs: ['get'],
    },
  ]),
  role('system:node', NODE_RULES),
  role('system:kube-scheduler', SCHEDULER_RULES),
  role('system:kube-controller-manager', CONTROLLER_MANAGER_RULES),
  ...Object.entries(CONTROLLERS).map(([name, rules]) => role(`system:controller:${name}`, rules)),
];

const AUTHENTICATED = groupSubject('system:authenticated');
export const BOOTSTRAP_CLUSTER_ROLE_BINDINGS: readonly RoleBinding[] = [
  binding('cluster-admin', [groupSubject('system:masters')]),
  binding('system:public-info-viewer', [AUTHENTICATED, groupSubject('system:unauthenticated')]),
  binding('system:discovery', [AUTHENTICATED]),
  binding('system:basic-user', [AUTHENTICATED]),
  binding('system:monitoring', [groupSubject('system:monitoring')]),
  binding('system:service-account-issuer-discovery', [groupSubject('system:serviceaccounts')]),
  binding('system:node', [groupSubject('system:nodes')]),
  binding('system:kube-scheduler', [{ apiGroup: GROUP, kind: 'User', name: 'system:kube-scheduler' }]),
  binding('system:kube-controller-manager', [{ apiGroup: GROUP, kind: 'User', name: 'system:kube-controller-manager' }]),
  ...Object.keys(CONTROLLERS).map((name) =>
    binding(`system:controller:${name}`, [{ kind: 'ServiceAccount', name, namespace: 'kube-system' }]),
  ),
];

/** Servers behind an APIService learn from one ConfigMap whom to believe; installations bind this role to them. */
export const SYSTEM_ROLES: readonly Role[] = [
  {
    apiVersion: API_VERSION,
    kind: 'Role',
    metadata: { ...defaults('extension-apiserver-authentication-reader'), namespace: 'kube-system' },
    rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['extension-apiserver-authentication'], verbs: READ }],
  },
];

function role(name: string, rules: readonly PolicyRule[], labels: Readonly<Record<string, string>> = {}): Role {
  return { apiVersion: API_VERSION, kind: 'ClusterRole', metadata: defaults(name, labels), rules };
}

/** The rules are what the built-in parts add up to, so that the role is right before anybody has put it together. */
function aggregated(name: string, rules: readonly PolicyRule[], partOf?: string): Role {
  const clusterRoleSelectors = [{ matchLabels: { [aggregateTo(name)]: 'true' } }];
  return { ...role(name, rules, partOf ? { [aggregateTo(partOf)]: 'true' } : {}), aggregationRule: { clusterRoleSelectors } };
}

function aggregateTo(name: string): string {
  return `${GROUP}/aggregate-to-${name}`;
}

function binding(name: string, subjects: readonly object[]): RoleBinding {
  const roleRef = { apiGroup: GROUP, kind: 'ClusterRole', name };
  return { apiVersion: API_VERSION, kind: 'ClusterRoleBinding', metadata: defaults(name), roleRef, subjects };
}

function groupSubject(name: string): object {
  return { apiGroup: GROUP, kind: 'Group', name };
}

function defaults(name: string, labels: Readonly<Record<string, string>> = {}): KubeObject['metadata'] {
  return {
    name,
    labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
    annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
  };
}
