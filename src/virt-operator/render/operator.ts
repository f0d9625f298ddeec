/** What people apply to install: the namespace, the kind KubeVirt, and virt-operator with no more rights than it needs. Pure. */

import { COMPONENT_ACCOUNTS } from '../../api/kubevirt/component-accounts.ts';
import { INSTALLED_KINDS, MACHINE_KINDS } from '../../api/kubevirt/installed-kinds-table.ts';
import { INSTALL_NAMESPACE } from '../../api/kubevirt/names.ts';
import type { KubeObject } from '../../api/meta.ts';
import { COMMON_KINDS } from '../common-instancetypes/controller.ts';
import { MEASURED_LABEL, METRICS_PORT_NAME } from './monitoring.ts';
import type { RenderOptions } from './options.ts';
import { renderComponents } from './render.ts';

const NAME = 'virt-operator';
const ACCOUNT = COMPONENT_ACCOUNTS[NAME];
const LABELS = { 'kubevirt.io': '' };
const RBAC = 'rbac.authorization.k8s.io';
const KUBEVIRT = 'kubevirt.io';

/** For the names of all that an installation may have. */
const ANY_OPTIONS: RenderOptions = {
  namespace: INSTALL_NAMESPACE,
  images: { components: '', launcher: '', importer: '', tools: '' },
  version: '',
  monitor: { account: '', namespace: '' },
};

type Rule = {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
};

/** In the order in which they are put in place; `manifests` are the objects of deploy/. */
export function renderOperator({
  manifests,
  image,
  version,
}: {
  manifests: readonly KubeObject[];
  image: string;
  version: string;
}): object[] {
  const isFirst = ({ kind, metadata }: KubeObject) => kind === 'Namespace' || metadata.name === 'kubevirts.kubevirt.io';
  const namespaced = { namespace: INSTALL_NAMESPACE, labels: LABELS };
  const elsewhere = [...new Set(manifests.flatMap(({ kind, metadata }) => (kind === 'RoleBinding' ? (metadata.namespace ?? []) : [])))];
  return [
    ...manifests.filter(isFirst).toSorted((a, b) => b.kind.localeCompare(a.kind)),
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: ACCOUNT, ...namespaced } },
    { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name: ACCOUNT, labels: LABELS }, rules: clusterRules(manifests) },
    binding('ClusterRole', { name: ACCOUNT, labels: LABELS }),
    { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata: { name: ACCOUNT, ...namespaced }, rules: rulesInside(manifests) },
    binding('Role', { name: ACCOUNT, ...namespaced }),
    ...elsewhere
      .filter((namespace) => namespace !== INSTALL_NAMESPACE)
      .flatMap((namespace) => {
        const metadata = { name: ACCOUNT, namespace, labels: LABELS };
        return [
          { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata, rules: rulesOfBindings(manifests, namespace) },
          binding('Role', metadata),
        ];
      }),
    deployment(image, version),
  ];
}

/** The smallest KubeVirt object. */
export function renderKubeVirt(): object {
  return { apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt', metadata: { name: 'kubevirt', namespace: INSTALL_NAMESPACE }, spec: {} };
}

/** Objects of the whole cluster: all may be seen and made, ours alone changed. A role of ours may hold more than the operator does. */
function clusterRules(manifests: readonly KubeObject[]): Rule[] {
  const all = [...manifests, ...renderComponents(ANY_OPTIONS)];
  const kinds = [...INSTALLED_KINDS.filter(({ isNamespaced }) => !isNamespaced), ...COMMON_KINDS];
  const ofKinds = kinds.flatMap(({ group, plural, kind }): Rule[] => {
    const names = all
      .filter((each) => each.kind === kind && each.metadata.name !== 'kubevirts.kubevirt.io')
      .map(({ metadata }) => metadata.name);
    const on = { apiGroups: [group], resources: [plural] };
    const more = kind === 'ClusterRole' ? ['escalate', 'bind'] : [];
    return [
      { ...on, verbs: ['list', 'watch', 'create'] },
      { ...on, verbs: ['get', 'patch', 'delete', ...more], resourceNames: names },
    ];
  });
  const groups = [...new Set(MACHINE_KINDS.map(({ group }) => group))];
  const pluralsOf = (group: string) => MACHINE_KINDS.filter((each) => each.group === group).map(({ plural }) => plural);
  return [
    { apiGroups: [KUBEVIRT], resources: ['kubevirts'], verbs: ['get', 'list', 'watch', 'patch'] },
    { apiGroups: [KUBEVIRT], resources: ['kubevirts/status'], verbs: ['patch'] },
    // Uninstalling: who is left, and the marks on nodes.
    ...groups.map((group) => ({ apiGroups: [group], resources: pluralsOf(group), verbs: ['list', 'delete'] })),
    { apiGroups: [''], resources: ['nodes'], verbs: ['list', 'patch'] },
    { apiGroups: [''], resources: ['events'], verbs: ['get', 'create', 'patch'] },
    // Who may read metrics.
    { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
    { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
    ...ofKinds,
  ];
}

function rulesInside(manifests: readonly KubeObject[]): Rule[] {
  const verbs = ['get', 'list', 'watch', 'create', 'patch', 'delete'];
  const kinds = INSTALLED_KINDS.filter(({ isNamespaced, kind }) => isNamespaced && !/^(Role|RoleBinding)$/.test(kind));
  const groups = [...new Set(kinds.map(({ group }) => group))];
  const roles = manifests.filter(({ kind, metadata }) => kind === 'Role' && metadata.namespace === INSTALL_NAMESPACE);
  return [
    ...groups.map((group) => ({
      apiGroups: [group],
      resources: kinds.filter((each) => each.group === group).map(({ plural }) => plural),
      verbs,
    })),
    { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
    { apiGroups: [RBAC], resources: ['roles', 'rolebindings'], verbs },
    { apiGroups: [RBAC], resources: ['roles'], verbs: ['escalate', 'bind'], resourceNames: roles.map(({ metadata }) => metadata.name) },
  ];
}

/** One binding to a role that Kubernetes itself has. */
function rulesOfBindings(manifests: readonly KubeObject[], namespace: string): Rule[] {
  const bindings = manifests.filter(({ kind, metadata }) => kind === 'RoleBinding' && metadata.namespace === namespace);
  const roles = bindings.map((each) => (each as KubeObject & { roleRef: { name: string } }).roleRef.name); // every binding has one
  const names = bindings.map(({ metadata }) => metadata.name);
  return [
    { apiGroups: [RBAC], resources: ['rolebindings'], verbs: ['list', 'watch', 'create'] },
    { apiGroups: [RBAC], resources: ['rolebindings'], verbs: ['get', 'patch', 'delete'], resourceNames: names },
    { apiGroups: [RBAC], resources: ['roles'], verbs: ['bind'], resourceNames: roles },
  ];
}

function binding(kind: 'ClusterRole' | 'Role', metadata: { name: string; namespace?: string; labels: object }): object {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: `${kind}Binding`,
    metadata,
    roleRef: { apiGroup: RBAC, kind, name: ACCOUNT },
    subjects: [{ kind: 'ServiceAccount', name: ACCOUNT, namespace: INSTALL_NAMESPACE }],
  };
}

/** One, replaced rather than doubled: two would write the same objects. It is not needed for anything that runs. */
function deployment(image: string, version: string): object {
  const labels = { 'kubevirt.io': NAME, 'app.kubernetes.io/name': NAME, 'app.kubernetes.io/component': 'kubevirt' };
  const probe = (path: string) => ({ httpGet: { path, port: 'health', scheme: 'HTTP' }, periodSeconds: 5, timeoutSeconds: 5 });
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: NAME, namespace: INSTALL_NAMESPACE, labels: { ...labels, 'app.kubernetes.io/version': version } },
    spec: {
      replicas: 1,
      selector: { matchLabels: { 'kubevirt.io': NAME } },
      strategy: { type: 'Recreate' },
      template: {
        metadata: {
          labels: { ...labels, ...MEASURED_LABEL },
          annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/scheme': 'https', 'prometheus.io/port': '8443' },
        },
        spec: {
          serviceAccountName: ACCOUNT,
          nodeSelector: { 'kubernetes.io/os': 'linux' },
          tolerations: [{ key: 'CriticalAddonsOnly', operator: 'Exists' }],
          securityContext: { runAsNonRoot: true, runAsUser: 1001, runAsGroup: 1001, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              name: NAME,
              image,
              imagePullPolicy: 'IfNotPresent',
              command: [NAME],
              env: [{ name: 'VIRT_OPERATOR_IMAGE', value: image }],
              ports: [
                { name: 'health', containerPort: 8080, protocol: 'TCP' },
                { name: METRICS_PORT_NAME, containerPort: 8443, protocol: 'TCP' },
              ],
              livenessProbe: { ...probe('/healthz'), initialDelaySeconds: 10, periodSeconds: 20, timeoutSeconds: 10, failureThreshold: 6 },
              readinessProbe: probe('/readyz'),
              resources: { requests: { cpu: '10m', memory: '80Mi' } },
              securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, readOnlyRootFilesystem: true },
              terminationMessagePolicy: 'FallbackToLogsOnError',
            },
          ],
        },
      },
    },
  };
}
