/**
 * Defaults of built-in kinds that the real server sets in code and the published schema does not show.
 * A default only ever fills a field that is absent, or a port that Go wrote without being told one: what a user wrote is never rewritten,
 * or a second `kubectl apply` would see a change.
 */
import { isObject, type JsonObject } from '../../../base/json.ts';

const CORE = 'io.k8s.api.core.v1';
const APPS = 'io.k8s.api.apps.v1';
const AUTOSCALING = 'io.k8s.api.autoscaling.v2';
const BATCH = 'io.k8s.api.batch.v1';
const RBAC = 'io.k8s.api.rbac.v1';
const CRD = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';
const ADMISSION = 'io.k8s.api.admissionregistration.v1';
/** rw-r--r--, which YAML writers of Kubernetes show in decimal. */
const FILE_MODE = 0o644;
const RBAC_GROUP = 'rbac.authorization.k8s.io';

const CONTAINER = { terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File', resources: {} };
const WEBHOOK = { failurePolicy: 'Fail', matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {}, timeoutSeconds: 10 };

/** Fixed defaults by definition and field. */
export const DEFAULTS: Readonly<Record<string, JsonObject>> = {
  [`${CORE}.PodSpec`]: {
    restartPolicy: 'Always',
    dnsPolicy: 'ClusterFirst',
    schedulerName: 'default-scheduler',
    terminationGracePeriodSeconds: 30,
    securityContext: {},
  },
  [`${CORE}.Container`]: CONTAINER,
  [`${CORE}.EphemeralContainer`]: CONTAINER,
  [`${CORE}.Probe`]: { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 },
  [`${CORE}.HTTPGetAction`]: { path: '/', scheme: 'HTTP' },
  [`${CORE}.ObjectFieldSelector`]: { apiVersion: 'v1' },
  [`${CORE}.SecretVolumeSource`]: { defaultMode: FILE_MODE },
  [`${CORE}.ConfigMapVolumeSource`]: { defaultMode: FILE_MODE },
  [`${CORE}.DownwardAPIVolumeSource`]: { defaultMode: FILE_MODE },
  [`${CORE}.ProjectedVolumeSource`]: { defaultMode: FILE_MODE },
  [`${CORE}.ServiceAccountTokenProjection`]: { expirationSeconds: 3600 },
  [`${CORE}.HostPathVolumeSource`]: { type: '' },
  [`${CORE}.ServiceSpec`]: { type: 'ClusterIP', sessionAffinity: 'None' },
  [`${CORE}.Secret`]: { type: 'Opaque' },
  [`${CORE}.PersistentVolumeClaimSpec`]: { volumeMode: 'Filesystem' },
  [`${CORE}.PersistentVolumeSpec`]: { volumeMode: 'Filesystem', persistentVolumeReclaimPolicy: 'Retain' },
  [`${APPS}.DeploymentSpec`]: { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 },
  [`${APPS}.DeploymentStrategy`]: { type: 'RollingUpdate' },
  [`${APPS}.ReplicaSetSpec`]: { replicas: 1 },
  [`${APPS}.DaemonSetSpec`]: { revisionHistoryLimit: 10 },
  [`${APPS}.DaemonSetUpdateStrategy`]: { type: 'RollingUpdate' },
  [`${APPS}.StatefulSetSpec`]: { replicas: 1, revisionHistoryLimit: 10, podManagementPolicy: 'OrderedReady' },
  [`${APPS}.StatefulSetUpdateStrategy`]: { type: 'RollingUpdate' },
  [`${BATCH}.JobSpec`]: { backoffLimit: 6, completionMode: 'NonIndexed', suspend: false, podReplacementPolicy: 'TerminatingOrFailed' },
  [`${BATCH}.CronJobSpec`]: { concurrencyPolicy: 'Allow', suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 },
  [`${AUTOSCALING}.HorizontalPodAutoscalerSpec`]: {
    minReplicas: 1,
    metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } }],
  },
  [`${RBAC}.RoleRef`]: { apiGroup: RBAC_GROUP },
  [`${CRD}.CustomResourceDefinitionSpec`]: { conversion: { strategy: 'None' } },
  [`${CRD}.ServiceReference`]: { port: 443 },
  [`${ADMISSION}.MutatingWebhook`]: { ...WEBHOOK, reinvocationPolicy: 'Never' },
  [`${ADMISSION}.ValidatingWebhook`]: WEBHOOK,
  [`${ADMISSION}.RuleWithOperations`]: { scope: '*' },
  [`${ADMISSION}.NamedRuleWithOperations`]: { scope: '*' },
  [`${ADMISSION}.MatchResources`]: { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} },
  [`${ADMISSION}.ValidatingAdmissionPolicySpec`]: { failurePolicy: 'Fail' },
  [`${ADMISSION}.ServiceReference`]: { port: 443 },
  'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.ServiceReference': { port: 443 },
  'io.k8s.api.discovery.v1.EndpointPort': { name: '', protocol: 'TCP' },
  'io.k8s.api.authorization.v1.SubjectRulesReviewStatus': { resourceRules: [], nonResourceRules: [] },
  'io.k8s.api.storage.v1.StorageClass': { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' },
};

/** Defaults that follow from other fields, by definition; maps are filled key by key. */
export const DERIVED_DEFAULTS: Readonly<Record<string, (object: JsonObject) => JsonObject>> = {
  [`${CORE}.Container`]: ({ image }) => ({ imagePullPolicy: pullPolicyFor(image) }),
  [`${CORE}.EphemeralContainer`]: ({ image }) => ({ imagePullPolicy: pullPolicyFor(image) }),
  [`${CORE}.ImageVolumeSource`]: ({ reference }) => ({ pullPolicy: pullPolicyFor(reference) }),
  [`${CORE}.ResourceRequirements`]: requestsFromLimits,
  [`${CORE}.Namespace`]: namespaceLabel,
  // of a Pod, not of a template for Pods
  [`${CORE}.Pod`]: ({ spec }) => (isObject(spec) ? { spec: { enableServiceLinks: true } } : {}),
  [`${CORE}.ServicePort`]: ({ port }) => (port === undefined ? {} : { targetPort: port }),
  [`${CORE}.ServiceSpec`]: ({ type }) => ({
    ...(type !== 'ExternalName' && { internalTrafficPolicy: 'Cluster' }),
    ...((type === 'NodePort' || type === 'LoadBalancer') && { externalTrafficPolicy: 'Cluster' }),
  }),
  [`${APPS}.DeploymentStrategy`]: ({ type }) =>
    type === 'RollingUpdate' ? { rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } } : {},
  [`${APPS}.DaemonSetUpdateStrategy`]: ({ type }) =>
    type === 'RollingUpdate' ? { rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } } : {},
  [`${APPS}.StatefulSetUpdateStrategy`]: ({ type }) => (type === 'RollingUpdate' ? { rollingUpdate: { partition: 0 } } : {}),
  [`${BATCH}.JobSpec`]: ({ completions, parallelism }) =>
    completions === undefined && parallelism === undefined ? { completions: 1, parallelism: 1 } : { parallelism: 1 },
  [`${RBAC}.Subject`]: ({ kind }) => (kind === 'User' || kind === 'Group' ? { apiGroup: RBAC_GROUP } : {}),
  [`${CRD}.CustomResourceDefinitionNames`]: ({ kind }) =>
    typeof kind === 'string' && kind !== '' ? { singular: kind.toLowerCase(), listKind: `${kind}List` } : {},
};

/** A tag that moves has to be asked for each time; `latest` is the one everybody moves, and the one meant by none. */
function pullPolicyFor(image: unknown): string {
  const reference = typeof image === 'string' ? image : '';
  if (reference.includes('@')) return 'IfNotPresent';
  const tag = /:([^:/]+)$/.exec(reference)?.[1] ?? 'latest';
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}

/** A limit without a request of the same resource is also the request. */
function requestsFromLimits({ limits }: JsonObject): JsonObject {
  return isObject(limits) ? { requests: limits } : {};
}

/** Every namespace can be selected by its own name. */
function namespaceLabel({ metadata }: JsonObject): JsonObject {
  const name = isObject(metadata) ? metadata['name'] : undefined;
  return typeof name === 'string' && name !== '' ? { metadata: { labels: { 'kubernetes.io/metadata.name': name } } } : {};
}
