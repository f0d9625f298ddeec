/** Every kind that an installation is made of, in the order in which objects are put in place; they are removed in the opposite order. And the kinds of machines. */
import { CONFIG_MAPS } from '../core/configmap.ts';
import { CLUSTER_ROLES } from '../core/rbac.ts';
import { SECRETS } from '../core/secret.ts';
import { SERVICES } from '../core/service.ts';
import { SERVICE_ACCOUNTS } from '../core/service-account.ts';
import type { KubeObject } from '../meta.ts';
import { apiVersionOf, type Resource } from '../resource.ts';
import { KUBEVIRTS } from './kinds/kubevirt.ts';
import { KINDS } from './kinds-table.ts';

const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1' } as const;
const ADMISSION = { group: 'admissionregistration.k8s.io', version: 'v1', isNamespaced: false } as const;

export const DEPLOYMENTS: Resource = { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment', isNamespaced: true };
const DAEMON_SETS: Resource = { group: 'apps', version: 'v1', plural: 'daemonsets', kind: 'DaemonSet', isNamespaced: true };

const MONITORING = { group: 'monitoring.coreos.com', version: 'v1', isNamespaced: true } as const;

/** Served from Kubernetes 1.30 on, and where the operator of Prometheus is installed; elsewhere an installation goes without. */
export const NEWER_KINDS: readonly Resource[] = [
  { ...ADMISSION, plural: 'validatingadmissionpolicies', kind: 'ValidatingAdmissionPolicy' },
  { ...ADMISSION, plural: 'validatingadmissionpolicybindings', kind: 'ValidatingAdmissionPolicyBinding' },
  { ...MONITORING, plural: 'servicemonitors', kind: 'ServiceMonitor' },
  { ...MONITORING, plural: 'prometheusrules', kind: 'PrometheusRule' },
];

export const INSTALLED_KINDS: readonly Resource[] = [
  {
    group: 'apiextensions.k8s.io',
    version: 'v1',
    plural: 'customresourcedefinitions',
    kind: 'CustomResourceDefinition',
    isNamespaced: false,
  },
  { group: 'scheduling.k8s.io', version: 'v1', plural: 'priorityclasses', kind: 'PriorityClass', isNamespaced: false },
  SERVICE_ACCOUNTS,
  CLUSTER_ROLES,
  { ...RBAC, plural: 'clusterrolebindings', kind: 'ClusterRoleBinding', isNamespaced: false },
  { ...RBAC, plural: 'roles', kind: 'Role', isNamespaced: true },
  { ...RBAC, plural: 'rolebindings', kind: 'RoleBinding', isNamespaced: true },
  SERVICES,
  SECRETS,
  CONFIG_MAPS,
  ...NEWER_KINDS,
  { group: 'policy', version: 'v1', plural: 'poddisruptionbudgets', kind: 'PodDisruptionBudget', isNamespaced: true },
  DEPLOYMENTS,
  DAEMON_SETS,
  { group: 'apiregistration.k8s.io', version: 'v1', plural: 'apiservices', kind: 'APIService', isNamespaced: false },
  { ...ADMISSION, plural: 'mutatingwebhookconfigurations', kind: 'MutatingWebhookConfiguration' },
  { ...ADMISSION, plural: 'validatingwebhookconfigurations', kind: 'ValidatingWebhookConfiguration' },
];

/** What somebody may have made with an installation, and what goes with it. */
export const MACHINE_KINDS: readonly Resource[] = KINDS.filter((each) => each !== KUBEVIRTS);

/** Where in the table a kind is; after all others when it is not in it. */
export function orderOf({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): number {
  const at = INSTALLED_KINDS.findIndex((each) => each.kind === kind && apiVersionOf(each) === apiVersion);
  return at < 0 ? INSTALLED_KINDS.length : at;
}

/** The resource of an object that an installation is made of. */
export function installedResource(type: Pick<KubeObject, 'apiVersion' | 'kind'>): Resource | undefined {
  return INSTALLED_KINDS[orderOf(type)];
}
