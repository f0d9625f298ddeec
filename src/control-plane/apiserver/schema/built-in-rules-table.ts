/** What the real server demands of built-in kinds in code rather than in its published schema, for the kinds we run. */

export type Rules = {
  /** Fields the published schema calls optional. */
  readonly required?: readonly string[];
  /** Required fields whose published default is only Go's zero value, which would hide that they are missing. */
  readonly mustBeSet?: readonly string[];
  readonly enums?: Readonly<Record<string, readonly string[]>>;
};

const CORE = 'io.k8s.api.core.v1';
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const APPS = 'io.k8s.api.apps.v1';
const RBAC = 'io.k8s.api.rbac.v1';
const CRD = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';
const ADMISSION = 'io.k8s.api.admissionregistration.v1';
const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const CONTAINER: Rules = {
  mustBeSet: ['name'],
  required: ['image'],
  enums: {
    imagePullPolicy: ['Always', 'IfNotPresent', 'Never'],
    terminationMessagePolicy: ['FallbackToLogsOnError', 'File'],
  },
};
const WEBHOOK: Rules = {
  mustBeSet: ['name'],
  enums: { failurePolicy: ['Fail', 'Ignore'], matchPolicy: ['Equivalent', 'Exact'], sideEffects: ['None', 'NoneOnDryRun'] },
};

export const RULES: Readonly<Record<string, Rules>> = {
  [`${META}.OwnerReference`]: { mustBeSet: ['apiVersion', 'kind', 'name', 'uid'] },
  [`${META}.LabelSelectorRequirement`]: {
    mustBeSet: ['key', 'operator'],
    enums: { operator: ['DoesNotExist', 'Exists', 'In', 'NotIn'] },
  },
  [`${CORE}.PodSpec`]: {
    enums: {
      restartPolicy: ['Always', 'Never', 'OnFailure'],
      dnsPolicy: ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'],
    },
  },
  [`${CORE}.Container`]: CONTAINER,
  [`${CORE}.EphemeralContainer`]: CONTAINER,
  [`${CORE}.ContainerPort`]: { mustBeSet: ['containerPort'], enums: { protocol: PROTOCOLS } },
  [`${CORE}.EnvVar`]: { mustBeSet: ['name'] },
  [`${CORE}.Volume`]: { mustBeSet: ['name'] },
  [`${CORE}.VolumeMount`]: { mustBeSet: ['mountPath', 'name'] },
  [`${CORE}.HostPathVolumeSource`]: { mustBeSet: ['path'] },
  [`${CORE}.PersistentVolumeClaimVolumeSource`]: { mustBeSet: ['claimName'] },
  [`${CORE}.Taint`]: { mustBeSet: ['effect', 'key'], enums: { effect: ['NoExecute', 'NoSchedule', 'PreferNoSchedule'] } },
  [`${CORE}.ServiceSpec`]: {
    enums: {
      type: ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'],
      sessionAffinity: ['ClientIP', 'None'],
      externalTrafficPolicy: ['Cluster', 'Local'],
      internalTrafficPolicy: ['Cluster', 'Local'],
    },
  },
  [`${CORE}.ServicePort`]: { mustBeSet: ['port'], enums: { protocol: PROTOCOLS } },
  [`${APPS}.DeploymentSpec`]: { mustBeSet: ['template'] },
  [`${APPS}.DaemonSetSpec`]: { mustBeSet: ['template'] },
  [`${APPS}.DeploymentStrategy`]: { enums: { type: ['Recreate', 'RollingUpdate'] } },
  [`${APPS}.DaemonSetUpdateStrategy`]: { enums: { type: ['OnDelete', 'RollingUpdate'] } },
  [`${RBAC}.RoleBinding`]: { mustBeSet: ['roleRef'] },
  [`${RBAC}.ClusterRoleBinding`]: { mustBeSet: ['roleRef'] },
  [`${RBAC}.RoleRef`]: { mustBeSet: ['kind', 'name'] },
  [`${RBAC}.Subject`]: { mustBeSet: ['kind', 'name'], enums: { kind: ['Group', 'ServiceAccount', 'User'] } },
  [`${CRD}.CustomResourceDefinition`]: { mustBeSet: ['spec'] },
  [`${CRD}.CustomResourceDefinitionSpec`]: { mustBeSet: ['group', 'names', 'scope'], enums: { scope: ['Cluster', 'Namespaced'] } },
  [`${CRD}.CustomResourceDefinitionVersion`]: { mustBeSet: ['name'] },
  [`${ADMISSION}.MutatingWebhook`]: WEBHOOK,
  [`${ADMISSION}.ValidatingWebhook`]: WEBHOOK,
  [`${ADMISSION}.ValidatingAdmissionPolicySpec`]: { required: ['matchConstraints'], enums: { failurePolicy: ['Fail', 'Ignore'] } },
  [`${ADMISSION}.MatchResources`]: { enums: { matchPolicy: ['Equivalent', 'Exact'] } },
  [`${ADMISSION}.ValidatingAdmissionPolicyBindingSpec`]: { required: ['policyName', 'validationActions'] },
  [`${ADMISSION}.ParamKind`]: { required: ['apiVersion', 'kind'] },
  [`${ADMISSION}.ParamRef`]: { required: ['parameterNotFoundAction'], enums: { parameterNotFoundAction: ['Deny', 'Allow'] } },
  [`${ADMISSION}.Validation`]: {
    mustBeSet: ['expression'],
    enums: { reason: ['Forbidden', 'Invalid', 'RequestEntityTooLarge', 'Unauthorized'] },
  },
  [`${ADMISSION}.Variable`]: { mustBeSet: ['expression', 'name'] },
  'io.k8s.api.discovery.v1.EndpointSlice': { mustBeSet: ['addressType'], enums: { addressType: ['FQDN', 'IPv4', 'IPv6'] } },
};
