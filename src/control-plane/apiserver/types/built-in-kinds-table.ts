/** The kinds Kubernetes itself defines, as data: names, scope and subresources as a real server publishes them. */
import { AUTOSCALER_V1 } from '../kinds/autoscaler-v1.ts';
import type { NameSyntax, ScalePaths, SharedStorage } from './resource-type.ts';

export type BuiltInKind = {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly isClusterWide?: true;
  /** Without `status`, `main` or `/status` make no difference. */
  readonly subresources?: readonly string[];
  readonly scale?: ScalePaths;
  readonly nameSyntax?: NameSyntax;
  readonly hasGeneration?: true;
  readonly returnsDeleted?: true;
  readonly selectableFields?: readonly string[];
  readonly sharedStorage?: SharedStorage;
  /** When not all of the usual ones. */
  readonly verbs?: readonly string[];
  /** Kinds that are asked, not stored: only `create` exists. */
  readonly isReview?: true;
  /** Kinds that are measured, not stored: only `get` and `list` exist. */
  readonly isMeasured?: true;
};

const REPLICAS: ScalePaths = { specReplicas: 'spec.replicas', statusReplicas: 'status.replicas', labelSelector: 'spec.selector' };
const ALL = ['all'];
/** The newer face of core events: the same objects, some fields under better names. */
const CORE_EVENT: SharedStorage = {
  group: '',
  apiVersion: 'v1',
  storedNames: {
    regarding: 'involvedObject',
    note: 'message',
    reportingController: 'reportingComponent',
    deprecatedSource: 'source',
    deprecatedFirstTimestamp: 'firstTimestamp',
    deprecatedLastTimestamp: 'lastTimestamp',
    deprecatedCount: 'count',
  },
};
const API_EXTENSIONS = ['api-extensions'];

const CORE: readonly Omit<BuiltInKind, 'group' | 'version'>[] = [
  { plural: 'configmaps', kind: 'ConfigMap', shortNames: ['cm'] },
  { plural: 'endpoints', kind: 'Endpoints', shortNames: ['ep'] },
  {
    plural: 'events',
    kind: 'Event',
    shortNames: ['ev'],
    selectableFields: [
      'involvedObject.kind',
      'involvedObject.namespace',
      'involvedObject.name',
      'involvedObject.uid',
      'involvedObject.apiVersion',
      'involvedObject.resourceVersion',
      'involvedObject.fieldPath',
      'reason',
      'reportingComponent',
      'source',
      'type',
    ],
  },
  { plural: 'limitranges', kind: 'LimitRange', shortNames: ['limits'] },
  {
    plural: 'namespaces',
    kind: 'Namespace',
    shortNames: ['ns'],
    isClusterWide: true,
    subresources: ['status', 'finalize'],
    nameSyntax: 'label',
    selectableFields: ['status.phase'],
  },
  {
    plural: 'nodes',
    kind: 'Node',
    shortNames: ['no'],
    isClusterWide: true,
    subresources: ['status'],
    selectableFields: ['spec.unschedulable'],
  },
  {
    plural: 'persistentvolumeclaims',
    kind: 'PersistentVolumeClaim',
    shortNames: ['pvc'],
    subresources: ['status'],
    returnsDeleted: true,
  },
  {
    plural: 'persistentvolumes',
    kind: 'PersistentVolume',
    shortNames: ['pv'],
    isClusterWide: true,
    subresources: ['status'],
    returnsDeleted: true,
  },
  {
    plural: 'pods',
    kind: 'Pod',
    shortNames: ['po'],
    categories: ALL,
    subresources: ['status', 'log', 'binding', 'eviction', 'exec', 'attach', 'portforward', 'ephemeralcontainers'],
    hasGeneration: true,
    returnsDeleted: true,
    selectableFields: [
      'spec.nodeName',
      'spec.restartPolicy',
      'spec.schedulerName',
      'spec.serviceAccountName',
      'spec.hostNetwork',
      'status.phase',
      'status.podIP',
      'status.nominatedNodeName',
    ],
  },
  { plural: 'podtemplates', kind: 'PodTemplate', hasGeneration: true, returnsDeleted: true },
  {
    plural: 'replicationcontrollers',
    kind: 'ReplicationController',
    shortNames: ['rc'],
    categories: ALL,
    subresources: ['status', 'scale'],
    scale: REPLICAS,
    hasGeneration: true,
    selectableFields: ['status.replicas'],
  },
  { plural: 'resourcequotas', kind: 'ResourceQuota', shortNames: ['quota'], subresources: ['status'], returnsDeleted: true },
  { plural: 'secrets', kind: 'Secret', selectableFields: ['type'] },
  { plural: 'serviceaccounts', kind: 'ServiceAccount', shortNames: ['sa'], subresources: ['token'], returnsDeleted: true },
  {
    plural: 'services',
    kind: 'Service',
    shortNames: ['svc'],
    categories: ALL,
    subresources: ['proxy', 'status'],
    nameSyntax: 'service',
    returnsDeleted: true,
    selectableFields: ['spec.clusterIP', 'spec.type'],
  },
];

const OTHERS: readonly (readonly [string, string, readonly Omit<BuiltInKind, 'group' | 'version'>[]])[] = [
  [
    'apps',
    'v1',
    [
      { plural: 'controllerrevisions', kind: 'ControllerRevision' },
      { plural: 'daemonsets', kind: 'DaemonSet', shortNames: ['ds'], categories: ALL, subresources: ['status'], hasGeneration: true },
      {
        plural: 'deployments',
        kind: 'Deployment',
        shortNames: ['deploy'],
        categories: ALL,
        subresources: ['status', 'scale'],
        scale: REPLICAS,
        hasGeneration: true,
      },
      {
        plural: 'replicasets',
        kind: 'ReplicaSet',
        shortNames: ['rs'],
        categories: ALL,
        subresources: ['status', 'scale'],
        scale: REPLICAS,
        hasGeneration: true,
        selectableFields: ['status.replicas'],
      },
      {
        plural: 'statefulsets',
        kind: 'StatefulSet',
        shortNames: ['sts'],
        categories: ALL,
        subresources: ['status', 'scale'],
        scale: REPLICAS,
        hasGeneration: true,
      },
    ],
  ],
  [
    'batch',
    'v1',
    [
      { plural: 'cronjobs', kind: 'CronJob', shortNames: ['cj'], categories: ALL, subresources: ['status'], hasGeneration: true },
      {
        plural: 'jobs',
        kind: 'Job',
        categories: ALL,
        subresources: ['status'],
        hasGeneration: true,
        selectableFields: ['status.successful'],
      },
    ],
  ],
  [
    'autoscaling',
    'v2',
    [
      {
        plural: 'horizontalpodautoscalers',
        kind: 'HorizontalPodAutoscaler',
        shortNames: ['hpa'],
        categories: ALL,
        subresources: ['status'],
      },
    ],
  ],
  [
    'autoscaling',
    'v1',
    [
      {
        plural: 'horizontalpodautoscalers',
        kind: 'HorizontalPodAutoscaler',
        shortNames: ['hpa'],
        categories: ALL,
        sharedStorage: AUTOSCALER_V1,
        verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'watch'],
      },
    ],
  ],
  [
    'networking.k8s.io',
    'v1',
    [
      { plural: 'ingressclasses', kind: 'IngressClass', isClusterWide: true, hasGeneration: true },
      { plural: 'ingresses', kind: 'Ingress', shortNames: ['ing'], subresources: ['status'], hasGeneration: true },
      { plural: 'networkpolicies', kind: 'NetworkPolicy', shortNames: ['netpol'], hasGeneration: true },
    ],
  ],
  [
    'policy',
    'v1',
    [
      {
        plural: 'poddisruptionbudgets',
        kind: 'PodDisruptionBudget',
        shortNames: ['pdb'],
        subresources: ['status'],
        hasGeneration: true,
      },
    ],
  ],
  [
    'rbac.authorization.k8s.io',
    'v1',
    [
      { plural: 'clusterrolebindings', kind: 'ClusterRoleBinding', isClusterWide: true, nameSyntax: 'path-segment' },
      { plural: 'clusterroles', kind: 'ClusterRole', isClusterWide: true, nameSyntax: 'path-segment' },
      { plural: 'rolebindings', kind: 'RoleBinding', nameSyntax: 'path-segment' },
      { plural: 'roles', kind: 'Role', nameSyntax: 'path-segment' },
    ],
  ],
  [
    'storage.k8s.io',
    'v1',
    [
      { plural: 'csidrivers', kind: 'CSIDriver', isClusterWide: true },
      { plural: 'csinodes', kind: 'CSINode', isClusterWide: true },
      { plural: 'storageclasses', kind: 'StorageClass', shortNames: ['sc'], isClusterWide: true },
      { plural: 'volumeattachments', kind: 'VolumeAttachment', isClusterWide: true, subresources: ['status'] },
    ],
  ],
  [
    'admissionregistration.k8s.io',
    'v1',
    [
      {
        plural: 'mutatingwebhookconfigurations',
        kind: 'MutatingWebhookConfiguration',
        categories: API_EXTENSIONS,
        isClusterWide: true,
        hasGeneration: true,
      },
      {
        plural: 'validatingadmissionpolicies',
        kind: 'ValidatingAdmissionPolicy',
        categories: API_EXTENSIONS,
        isClusterWide: true,
        subresources: ['status'],
        hasGeneration: true,
      },
      {
        plural: 'validatingadmissionpolicybindings',
        kind: 'ValidatingAdmissionPolicyBinding',
        categories: API_EXTENSIONS,
        isClusterWide: true,
        hasGeneration: true,
      },
      {
        plural: 'validatingwebhookconfigurations',
        kind: 'ValidatingWebhookConfiguration',
        categories: API_EXTENSIONS,
        isClusterWide: true,
        hasGeneration: true,
      },
    ],
  ],
  [
    'apiextensions.k8s.io',
    'v1',
    [
      {
        plural: 'customresourcedefinitions',
        kind: 'CustomResourceDefinition',
        shortNames: ['crd', 'crds'],
        categories: API_EXTENSIONS,
        isClusterWide: true,
        subresources: ['status'],
        hasGeneration: true,
      },
    ],
  ],
  [
    'apiregistration.k8s.io',
    'v1',
    [
      {
        plural: 'apiservices',
        kind: 'APIService',
        nameSyntax: 'path-segment',
        categories: API_EXTENSIONS,
        isClusterWide: true,
        subresources: ['status'],
      },
    ],
  ],
  [
    'authentication.k8s.io',
    'v1',
    [
      { plural: 'selfsubjectreviews', kind: 'SelfSubjectReview', isClusterWide: true, isReview: true },
      { plural: 'tokenreviews', kind: 'TokenReview', isClusterWide: true, isReview: true },
    ],
  ],
  [
    'authorization.k8s.io',
    'v1',
    [
      { plural: 'localsubjectaccessreviews', kind: 'LocalSubjectAccessReview', isReview: true },
      { plural: 'selfsubjectaccessreviews', kind: 'SelfSubjectAccessReview', isClusterWide: true, isReview: true },
      { plural: 'selfsubjectrulesreviews', kind: 'SelfSubjectRulesReview', isClusterWide: true, isReview: true },
      { plural: 'subjectaccessreviews', kind: 'SubjectAccessReview', isClusterWide: true, isReview: true },
    ],
  ],
  ['coordination.k8s.io', 'v1', [{ plural: 'leases', kind: 'Lease' }]],
  ['discovery.k8s.io', 'v1', [{ plural: 'endpointslices', kind: 'EndpointSlice', hasGeneration: true }]],
  [
    'events.k8s.io',
    'v1',
    [
      {
        plural: 'events',
        kind: 'Event',
        shortNames: ['ev'],
        sharedStorage: CORE_EVENT,
        selectableFields: [
          'regarding.kind',
          'regarding.namespace',
          'regarding.name',
          'regarding.uid',
          'regarding.apiVersion',
          'regarding.resourceVersion',
          'regarding.fieldPath',
          'reason',
          'reportingController',
          'type',
        ],
      },
    ],
  ],
  ['node.k8s.io', 'v1', [{ plural: 'runtimeclasses', kind: 'RuntimeClass', isClusterWide: true }]],
  [
    'scheduling.k8s.io',
    'v1',
    [{ plural: 'priorityclasses', kind: 'PriorityClass', shortNames: ['pc'], isClusterWide: true, hasGeneration: true }],
  ],
];

/** Every built-in kind, groups in the order in which a name that several groups have is resolved. */
export const BUILT_IN_KINDS: readonly BuiltInKind[] = [
  ...CORE.map((kind) => ({ group: '', version: 'v1', ...kind })),
  ...OTHERS.flatMap(([group, version, kinds]) => kinds.map((kind) => ({ group, version, ...kind }))),
];

export const METRICS_GROUP = 'metrics.k8s.io';

/** Only where somebody measures. */
export const METRICS_KINDS: readonly BuiltInKind[] = [
  { group: METRICS_GROUP, version: 'v1beta1', plural: 'nodes', kind: 'NodeMetrics', isClusterWide: true, isMeasured: true },
  { group: METRICS_GROUP, version: 'v1beta1', plural: 'pods', kind: 'PodMetrics', isMeasured: true },
];
