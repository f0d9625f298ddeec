/** The columns of built-in kinds. A kind that is not here prints its name and age. */
import { isObject, type JsonObject } from '../../../base/json.ts';
import { CLASS_COLUMNS } from './class-columns.ts';
import { AGE, ageOf, at, type Column, count, joined, listAt, NAME, numberAt, orNone, pairsAt, sizeAt, text, textAt } from './column.ts';
import { NETWORK_COLUMNS, selectorText } from './network-columns.ts';
import { POD_COLUMNS } from './pod-columns.ts';

const CONTAINERS = text('Containers', (object) => joined(containersOf(object).map(({ name }) => String(name))), 1);
const IMAGES = text('Images', (object) => joined(containersOf(object).map(({ image }) => String(image))), 1);
const REPLICAS: readonly Column[] = [
  count('Desired', (object) => numberAt(object, 'spec', 'replicas')),
  count('Current', (object) => numberAt(object, 'status', 'replicas')),
  count('Ready', (object) => numberAt(object, 'status', 'readyReplicas')),
  AGE,
  CONTAINERS,
  IMAGES,
];
const SELECTOR = text('Selector', (object) => pairsAt(object, 'spec', 'selector', 'matchLabels'), 1);
const CREATED = text('Created At', (object) => textAt(object, 'metadata', 'creationTimestamp'));
const BINDING: readonly Column[] = [
  NAME,
  text('Role', (binding) => `${textAt(binding, 'roleRef', 'kind')}/${textAt(binding, 'roleRef', 'name')}`),
  AGE,
  text('Users', (binding) => subjects(binding, 'User'), 1),
  text('Groups', (binding) => subjects(binding, 'Group'), 1),
  text('ServiceAccounts', (binding) => subjects(binding, 'ServiceAccount'), 1),
];
const EVENT: readonly Column[] = [
  text('Last Seen', (event, nowMs) => ageOf(lastSeen(event), nowMs)),
  text('Type', (event) => textAt(event, 'type')),
  text('Reason', (event) => textAt(event, 'reason')),
  text('Object', (event) => regarding(event)),
  text('Subobject', (event) => textAt(event, 'involvedObject', 'fieldPath') || textAt(event, 'regarding', 'fieldPath'), 1),
  text('Source', (event) => textAt(event, 'source', 'component') || textAt(event, 'reportingComponent'), 1),
  text('Message', (event) => (textAt(event, 'message') || textAt(event, 'note')).trim()),
  text('First Seen', (event, nowMs) => ageOf(at(event, 'firstTimestamp') ?? at(event, 'eventTime'), nowMs), 1),
  count('Count', (event) => numberAt(event, 'count') || numberAt(event, 'series', 'count') || 1, 1),
  { ...NAME, priority: 1 },
];
const WEBHOOKS: readonly Column[] = [NAME, count('Webhooks', (object) => sizeAt(object, 'webhooks')), AGE];

const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  ...CLASS_COLUMNS,
  ...NETWORK_COLUMNS,
  '/Pod': POD_COLUMNS,
  '/Node': [
    NAME,
    text('Status', nodeStatus),
    text('Roles', nodeRoles),
    AGE,
    text('Version', (node) => textAt(node, 'status', 'nodeInfo', 'kubeletVersion')),
    text('Internal-IP', (node) => nodeAddress(node, 'InternalIP'), 1),
    text('External-IP', (node) => nodeAddress(node, 'ExternalIP'), 1),
    text('OS-Image', (node) => orNone(textAt(node, 'status', 'nodeInfo', 'osImage'), '<unknown>'), 1),
    text('Kernel-Version', (node) => orNone(textAt(node, 'status', 'nodeInfo', 'kernelVersion'), '<unknown>'), 1),
    text('Container-Runtime', (node) => orNone(textAt(node, 'status', 'nodeInfo', 'containerRuntimeVersion'), '<unknown>'), 1),
  ],
  '/Namespace': [NAME, text('Status', (namespace) => textAt(namespace, 'status', 'phase')), AGE],
  '/Event': EVENT,
  'events.k8s.io/Event': EVENT,
  '/Service': [
    NAME,
    text('Type', (service) => textAt(service, 'spec', 'type')),
    text('Cluster-IP', (service) => orNone(textAt(service, 'spec', 'clusterIP'))),
    text('External-IP', externalAddress),
    text('Port(s)', servicePorts),
    AGE,
    text('Selector', (service) => pairsAt(service, 'spec', 'selector'), 1),
  ],
  '/ConfigMap': [NAME, text('Data', (object) => sizeAt(object, 'data') + sizeAt(object, 'binaryData')), AGE],
  '/Secret': [NAME, text('Type', (secret) => textAt(secret, 'type')), text('Data', (secret) => sizeAt(secret, 'data')), AGE],
  '/ResourceQuota': [
    NAME,
    text('Request', (quota) => usedOf(quota, (resource) => !resource.startsWith('limits.'))),
    text('Limit', (quota) => usedOf(quota, (resource) => resource.startsWith('limits.'))),
    AGE,
  ],
  '/LimitRange': [NAME, CREATED],
  '/PodTemplate': [
    NAME,
    text('Containers', (object) => joined(templateContainers(object).map(({ name }) => String(name)))),
    text('Images', (object) => joined(templateContainers(object).map(({ image }) => String(image)))),
    text('Pod Labels', (object) => pairsAt(object, 'template', 'metadata', 'labels')),
  ],
  '/ServiceAccount': [NAME, text('Secrets', (account) => sizeAt(account, 'secrets')), AGE],
  '/ReplicationController': [NAME, ...REPLICAS, text('Selector', (object) => pairsAt(object, 'spec', 'selector'), 1)],
  '/Endpoints': [NAME, text('Endpoints', endpointAddresses), AGE],
  '/PersistentVolumeClaim': [
    NAME,
    text('Status', volumePhase),
    text('Volume', (claim) => textAt(claim, 'spec', 'volumeName')),
    text('Capacity', (claim) => textAt(claim, 'status', 'capacity', 'storage')),
    text('Access Modes', (claim) => accessModes(at(claim, 'status', 'accessModes'))),
    text('StorageClass', (claim) => textAt(claim, 'spec', 'storageClassName')),
    AGE,
    text('VolumeMode', (claim) => textAt(claim, 'spec', 'volumeMode'), 1),
  ],
  '/PersistentVolume': [
    NAME,
    text('Capacity', (volume) => textAt(volume, 'spec', 'capacity', 'storage')),
    text('Access Modes', (volume) => accessModes(at(volume, 'spec', 'accessModes'))),
    text('Reclaim Policy', (volume) => textAt(volume, 'spec', 'persistentVolumeReclaimPolicy')),
    text('Status', volumePhase),
    text('Claim', (volume) =>
      [textAt(volume, 'spec', 'claimRef', 'namespace'), textAt(volume, 'spec', 'claimRef', 'name')].filter(Boolean).join('/'),
    ),
    text('StorageClass', (volume) => textAt(volume, 'spec', 'storageClassName')),
    AGE,
  ],
  'coordination.k8s.io/Lease': [NAME, text('Holder', (lease) => textAt(lease, 'spec', 'holderIdentity')), AGE],
  'discovery.k8s.io/EndpointSlice': [
    NAME,
    text('AddressType', (slice) => textAt(slice, 'addressType')),
    text('Ports', (slice) =>
      orNone(
        listAt(slice, 'ports')
          .map(({ port }) => String(port ?? '*'))
          .join(','),
        '<unset>',
      ),
    ),
    text('Endpoints', (slice) =>
      orNone(
        listAt(slice, 'endpoints')
          .map((endpoint) => textAt(endpoint, 'addresses', 0))
          .join(','),
        '<unset>',
      ),
    ),
    AGE,
  ],
  'apiextensions.k8s.io/CustomResourceDefinition': [NAME, CREATED],
  'apiregistration.k8s.io/APIService': [NAME, text('Service', apiServiceTarget), text('Available', apiServiceAvailable), AGE],
  'apps/Deployment': [
    NAME,
    text('Ready', (object) => `${numberAt(object, 'status', 'readyReplicas')}/${numberAt(object, 'spec', 'replicas')}`),
    text('Up-to-date', (object) => numberAt(object, 'status', 'updatedReplicas')),
    text('Available', (object) => numberAt(object, 'status', 'availableReplicas')),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
  ],
  'apps/ReplicaSet': [NAME, ...REPLICAS, SELECTOR],
  'apps/StatefulSet': [
    NAME,
    text('Ready', (object) => `${numberAt(object, 'status', 'readyReplicas')}/${numberAt(object, 'spec', 'replicas')}`),
    AGE,
    CONTAINERS,
    IMAGES,
  ],
  'apps/DaemonSet': [
    NAME,
    count('Desired', (object) => numberAt(object, 'status', 'desiredNumberScheduled')),
    count('Current', (object) => numberAt(object, 'status', 'currentNumberScheduled')),
    count('Ready', (object) => numberAt(object, 'status', 'numberReady')),
    count('Up-to-date', (object) => numberAt(object, 'status', 'updatedNumberScheduled')),
    count('Available', (object) => numberAt(object, 'status', 'numberAvailable')),
    text('Node Selector', (object) => pairsAt(object, 'spec', 'template', 'spec', 'nodeSelector')),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
  ],
  'apps/ControllerRevision': [
    NAME,
    text('Controller', revisionController),
    count('Revision', (object) => numberAt(object, 'revision')),
    AGE,
  ],
  'batch/Job': [
    NAME,
    text('Status', jobStatus),
    text('Completions', (job) => `${numberAt(job, 'status', 'succeeded')}/${numberAt(job, 'spec', 'completions') || 1}`),
    text('Duration', jobDuration),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
  ],
  'batch/CronJob': [
    NAME,
    text('Schedule', (object) => textAt(object, 'spec', 'schedule')),
    text('Timezone', (object) => orNone(textAt(object, 'spec', 'timeZone'))),
    { ...text('Suspend', (object) => (at(object, 'spec', 'suspend') === true ? 'True' : 'False')), type: 'boolean' },
    count('Active', (object) => sizeAt(object, 'status', 'active')),
    text('Last Schedule', (object, nowMs) => {
      const last = at(object, 'status', 'lastScheduleTime');
      return last === undefined ? '<none>' : ageOf(last, nowMs);
    }),
    AGE,
    text('Containers', (object) => joined(containersOf(at(object, 'spec', 'jobTemplate')).map(({ name }) => String(name))), 1),
    text('Images', (object) => joined(containersOf(at(object, 'spec', 'jobTemplate')).map(({ image }) => String(image))), 1),
    text('Selector', (object) => pairsAt(object, 'spec', 'jobTemplate', 'spec', 'selector', 'matchLabels'), 1),
  ],
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': WEBHOOKS,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': WEBHOOKS,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': [
    NAME,
    count('Validations', (policy) => sizeAt(policy, 'spec', 'validations')),
    text('ParamKind', (policy) => {
      const kind = textAt(policy, 'spec', 'paramKind', 'kind');
      return kind === '' ? '<unset>' : `${textAt(policy, 'spec', 'paramKind', 'apiVersion')}/${kind}`;
    }),
    AGE,
  ],
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': [
    NAME,
    text('PolicyName', (binding) => textAt(binding, 'spec', 'policyName')),
    text('ParamRef', policyParameters),
    AGE,
  ],
  'autoscaling/HorizontalPodAutoscaler': [
    NAME,
    text(
      'Reference',
      (object) => `${textAt(object, 'spec', 'scaleTargetRef', 'kind')}/${textAt(object, 'spec', 'scaleTargetRef', 'name')}`,
    ),
    text('Targets', autoscalerTargets),
    text('MinPods', (object) => orNone(textAt(object, 'spec', 'minReplicas'), '<unset>')),
    count('MaxPods', (object) => numberAt(object, 'spec', 'maxReplicas')),
    count('Replicas', (object) => numberAt(object, 'status', 'currentReplicas')),
    AGE,
  ],
  'policy/PodDisruptionBudget': [
    NAME,
    text('Min Available', (budget) => orNone(textAt(budget, 'spec', 'minAvailable'), 'N/A')),
    text('Max Unavailable', (budget) => orNone(textAt(budget, 'spec', 'maxUnavailable'), 'N/A')),
    count('Allowed Disruptions', (budget) => numberAt(budget, 'status', 'disruptionsAllowed')),
    AGE,
  ],
  'rbac.authorization.k8s.io/Role': [NAME, CREATED],
  'rbac.authorization.k8s.io/ClusterRole': [NAME, CREATED],
  'rbac.authorization.k8s.io/RoleBinding': BINDING,
  'rbac.authorization.k8s.io/ClusterRoleBinding': BINDING,
};

/** The columns of a kind. */
export function builtInColumns(group: string, kind: string): readonly Column[] {
  const key = `${group}/${kind}`;
  return (Object.hasOwn(COLUMNS, key) ? COLUMNS[key] : undefined) ?? [NAME, AGE];
}

function containersOf(object: unknown): JsonObject[] {
  return listAt(object, 'spec', 'template', 'spec', 'containers');
}

function templateContainers(object: unknown): JsonObject[] {
  return listAt(object, 'template', 'spec', 'containers');
}

function policyParameters(binding: JsonObject): string {
  const [namespace, name] = ['namespace', 'name'].map((field) => textAt(binding, 'spec', 'paramRef', field));
  if (name) return `${namespace || '*'}/${name}`;
  const selector = at(binding, 'spec', 'paramRef', 'selector');
  return selector === undefined ? '<unset>' : selectorText(selector);
}

/** A claim that a Pod still uses stays until that has ended; so does the volume of one. */
function volumePhase(object: JsonObject): string {
  return at(object, 'metadata', 'deletionTimestamp') === undefined ? textAt(object, 'status', 'phase') : 'Terminating';
}

function jobStatus(job: JsonObject): string {
  const isSet = (type: string) => listAt(job, 'status', 'conditions').some((each) => each['type'] === type && each['status'] === 'True');
  if (isSet('Complete')) return 'Complete';
  if (isSet('Failed')) return 'Failed';
  if (at(job, 'metadata', 'deletionTimestamp') !== undefined) return 'Terminating';
  if (isSet('Suspended')) return 'Suspended';
  if (isSet('FailureTarget')) return 'FailureTarget';
  return isSet('SuccessCriteriaMet') ? 'SuccessCriteriaMet' : 'Running';
}

function jobDuration(job: JsonObject, nowMs: number): string {
  const startedAt = textAt(job, 'status', 'startTime');
  const endedAt = textAt(job, 'status', 'completionTime');
  return startedAt === '' ? '' : ageOf(startedAt, endedAt === '' ? nowMs : Date.parse(endedAt));
}

function subjects(binding: JsonObject, kind: string): string {
  const found = listAt(binding, 'subjects').filter((subject) => subject['kind'] === kind);
  return found.map(({ namespace, name }) => (kind === 'ServiceAccount' ? `${String(namespace)}/${String(name)}` : String(name))).join(', ');
}

function lastSeen(event: JsonObject): unknown {
  return at(event, 'series', 'lastObservedTime') ?? at(event, 'lastTimestamp') ?? at(event, 'eventTime') ?? at(event, 'firstTimestamp');
}

function regarding(event: JsonObject): string {
  const object = at(event, 'involvedObject') ?? at(event, 'regarding');
  return `${textAt(object, 'kind').toLowerCase()}/${textAt(object, 'name')}`;
}

/** `pods: 1/10, requests.cpu: 500m/2` of a quota. */
function usedOf(quota: JsonObject, isShown: (resource: string) => boolean): string {
  const hard = at(quota, 'status', 'hard');
  const shown = isObject(hard) ? Object.keys(hard).filter(isShown).sort() : [];
  return shown.map((name) => `${name}: ${textAt(quota, 'status', 'used', name)}/${textAt(hard, name)}`).join(', ');
}

function nodeStatus(node: JsonObject): string {
  const ready = listAt(node, 'status', 'conditions').find(({ type }) => type === 'Ready');
  const words = [ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady'];
  if (at(node, 'spec', 'unschedulable') === true) words.push('SchedulingDisabled');
  return words.join(',');
}

function nodeRoles(node: JsonObject): string {
  const labels = at(node, 'metadata', 'labels') ?? {};
  const prefix = 'node-role.kubernetes.io/';
  const roles = Object.keys(labels).filter((key) => key.startsWith(prefix) && key !== prefix);
  return joined(roles.map((key) => key.slice(prefix.length)).sort());
}

function nodeAddress(node: JsonObject, type: string): string {
  const address = listAt(node, 'status', 'addresses').find((candidate) => candidate['type'] === type);
  return orNone(textAt(address, 'address'));
}

function externalAddress(service: JsonObject): string {
  const type = textAt(service, 'spec', 'type');
  const ips = at(service, 'spec', 'externalIPs');
  const external = Array.isArray(ips) ? ips.map(String) : [];
  if (type === 'ExternalName') return orNone(textAt(service, 'spec', 'externalName'));
  if (type !== 'LoadBalancer') return joined(external);
  const ingress = listAt(service, 'status', 'loadBalancer', 'ingress').map((entry) => textAt(entry, 'ip') || textAt(entry, 'hostname'));
  return orNone([...ingress, ...external].join(','), '<pending>');
}

function servicePorts(service: JsonObject): string {
  const ports = listAt(service, 'spec', 'ports').map(({ port, nodePort, protocol = 'TCP' }) =>
    nodePort ? `${String(port)}:${String(nodePort)}/${String(protocol)}` : `${String(port)}/${String(protocol)}`,
  );
  return joined(ports);
}

function endpointAddresses(endpoints: JsonObject): string {
  const all = listAt(endpoints, 'subsets').flatMap((subset) =>
    listAt(subset, 'addresses').flatMap(({ ip }) => listAt(subset, 'ports').map(({ port }) => `${String(ip)}:${String(port)}`)),
  );
  return all.length > 3 ? `${all.slice(0, 3).join(',')} + ${all.length - 3} more...` : joined(all);
}

function accessModes(modes: unknown): string {
  const short: Readonly<Record<string, string>> = {
    ReadWriteOnce: 'RWO',
    ReadOnlyMany: 'ROX',
    ReadWriteMany: 'RWX',
    ReadWriteOncePod: 'RWOP',
  };
  return Array.isArray(modes) ? modes.map((mode) => short[String(mode)] ?? String(mode)).join(',') : '';
}

function apiServiceTarget(apiService: JsonObject): string {
  const namespace = textAt(apiService, 'spec', 'service', 'namespace');
  return namespace === '' ? 'Local' : `${namespace}/${textAt(apiService, 'spec', 'service', 'name')}`;
}

function apiServiceAvailable(apiService: JsonObject): string {
  const condition = listAt(apiService, 'status', 'conditions').find(({ type }) => type === 'Available');
  if (condition === undefined) return 'Unknown';
  return condition['status'] === 'True' ? 'True' : `${textAt(condition, 'status')} (${textAt(condition, 'reason')})`;
}

function revisionController(revision: JsonObject): string {
  const owner = listAt(revision, 'metadata', 'ownerReferences').find(({ controller }) => controller === true);
  return owner === undefined ? '<none>' : `${textAt(owner, 'kind').toLowerCase()}.apps/${textAt(owner, 'name')}`;
}

/** What is used and what should be, of each metric: `cpu: 12%/80%`. */
function autoscalerTargets(object: JsonObject): string {
  const current = listAt(object, 'status', 'currentMetrics');
  const shown = listAt(object, 'spec', 'metrics').map((metric) => {
    const place = at(metric, 'containerResource') === undefined ? 'resource' : 'containerResource';
    const name = textAt(metric, place, 'name');
    const isOne = (status: JsonObject) => textAt(status, place, 'name') === name && textAt(status, 'type') === textAt(metric, 'type');
    const used = current.find(isOne);
    const target = (field: string) => textAt(metric, place, 'target', field);
    const field = target('averageUtilization') === '' ? 'averageValue' : 'averageUtilization';
    const unit = field === 'averageUtilization' ? '%' : '';
    const value = used === undefined ? '' : textAt(used, place, 'current', field);
    return `${name}: ${value === '' ? '<unknown>' : `${value}${unit}`}/${target(field)}${unit}`;
  });
  return orNone(shown.join(', '));
}
