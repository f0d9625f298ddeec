/** Which built-in kind has which rules of its own. */
import type { Clock } from '../../../base/clock.ts';
import type { Store } from '../../store/store.ts';
import { webhookConfigurationStrategy } from '../admission/match-conditions.ts';
import { limitRangeStrategy } from '../limit-range/limit-range-defaults.ts';
import { policyBindingStrategy, policyStrategy } from '../policy/strategies.ts';
import type { Strategy } from '../types/resource-type.ts';
import { autoscalerStrategy } from './autoscaler-v1.ts';
import { configMapStrategy, secretStrategy } from './configmap-and-secret.ts';
import { crdStrategy } from './custom-resource-definition.ts';
import { immutableFields } from './immutable-fields.ts';
import { cronJobStrategy, jobStrategy } from './job-rules.ts';
import { namespaceStrategy } from './namespace.ts';
import { podStrategy } from './pod.ts';
import { podDisruptionBudgetStrategy } from './pod-disruption-budget.ts';
import { priorityClassStrategy } from './priority-class.ts';
import { bindingStrategy, roleStrategy } from './rbac.ts';
import { resourceQuotaStrategy } from './resource-quota.ts';
import { withSmallSelector } from './selector-size.ts';
import { serviceStrategy } from './service.ts';
import type { ServiceClaims } from './service-claims.ts';
import { volumeClaimStrategy } from './volume-claim.ts';
import { daemonSetStrategy, deploymentStrategy, replicaSetStrategy, statefulSetStrategy } from './workload-rules.ts';

/** Volumes wait until somebody binds them. */
const pending: Strategy = { prepareCreate: (object) => ({ ...object, status: { phase: 'Pending' } }) };

/** Kinds with a `spec.selector` that is held against Pods. */
const SELECTING = [
  'core/services',
  'core/replicationcontrollers',
  'apps/deployments',
  'apps/replicasets',
  'apps/daemonsets',
  'apps/statefulsets',
  'batch/jobs',
  'policy/poddisruptionbudgets',
];

type StrategyParts = { readonly store: Store; readonly clock: Clock; readonly serviceClaims: ServiceClaims };

/** By `group/plural`. */
export function strategiesFor({ store, clock, serviceClaims }: StrategyParts): Readonly<Record<string, Strategy>> {
  const strategies: Readonly<Record<string, Strategy>> = {
    'core/pods': podStrategy,
    'core/namespaces': namespaceStrategy,
    'core/nodes': { keepsNewStatus: true },
    'core/services': serviceStrategy(serviceClaims),
    'core/configmaps': configMapStrategy,
    'core/secrets': secretStrategy,
    'core/limitranges': limitRangeStrategy,
    'core/resourcequotas': resourceQuotaStrategy,
    'core/persistentvolumes': pending,
    'core/persistentvolumeclaims': volumeClaimStrategy,
    'apps/deployments': deploymentStrategy,
    'apps/replicasets': replicaSetStrategy,
    'apps/daemonsets': daemonSetStrategy,
    'apps/statefulsets': statefulSetStrategy,
    'batch/jobs': jobStrategy,
    'batch/cronjobs': cronJobStrategy,
    'apps/controllerrevisions': immutableFields('data'),
    'autoscaling/horizontalpodautoscalers': autoscalerStrategy,
    'policy/poddisruptionbudgets': podDisruptionBudgetStrategy,
    'rbac.authorization.k8s.io/roles': roleStrategy({ hasUrls: false }),
    'rbac.authorization.k8s.io/clusterroles': roleStrategy({ hasUrls: true }),
    'rbac.authorization.k8s.io/rolebindings': bindingStrategy(['Role', 'ClusterRole']),
    'rbac.authorization.k8s.io/clusterrolebindings': bindingStrategy(['ClusterRole']),
    'scheduling.k8s.io/priorityclasses': priorityClassStrategy(store),
    'storage.k8s.io/storageclasses': immutableFields('provisioner', 'parameters', 'reclaimPolicy', 'volumeBindingMode'),
    'admissionregistration.k8s.io/mutatingwebhookconfigurations': webhookConfigurationStrategy,
    'admissionregistration.k8s.io/validatingadmissionpolicies': policyStrategy,
    'admissionregistration.k8s.io/validatingadmissionpolicybindings': policyBindingStrategy,
    'admissionregistration.k8s.io/validatingwebhookconfigurations': webhookConfigurationStrategy,
    'apiextensions.k8s.io/customresourcedefinitions': crdStrategy({ store, clock }),
  };
  return { ...strategies, ...Object.fromEntries(SELECTING.map((kind) => [kind, withSmallSelector(strategies[kind])])) };
}
