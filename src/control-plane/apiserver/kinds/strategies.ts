/** Which built-in kind has which rules of its own. */
import type { Clock } from '../../../base/clock.ts';
import type { Store } from '../../store/store.ts';
import type { Strategy } from '../types/resource-type.ts';
import { configMapStrategy, secretStrategy } from './configmap-and-secret.ts';
import { crdStrategy } from './custom-resource-definition.ts';
import { immutableFields } from './immutable-fields.ts';
import { namespaceStrategy } from './namespace.ts';
import { podStrategy } from './pod.ts';
import { bindingStrategy, roleStrategy } from './rbac.ts';
import { serviceStrategy } from './service.ts';

/** Volumes and claims wait until somebody binds them. */
const pending: Strategy = { prepareCreate: (object) => ({ ...object, status: { phase: 'Pending' } }) };

/** By `group/plural`. */
export function strategiesFor({ store, clock }: { store: Store; clock: Clock }): Readonly<Record<string, Strategy>> {
  return {
    'core/pods': podStrategy,
    'core/namespaces': namespaceStrategy,
    'core/nodes': { keepsNewStatus: true },
    'core/services': serviceStrategy(store),
    'core/configmaps': configMapStrategy,
    'core/secrets': secretStrategy,
    'core/persistentvolumes': pending,
    'core/persistentvolumeclaims': pending,
    'apps/deployments': { ...immutableFields('spec.selector'), annotationsAreDesired: true },
    'apps/replicasets': immutableFields('spec.selector'),
    'apps/daemonsets': immutableFields('spec.selector'),
    'apps/statefulsets': immutableFields('spec.selector', 'spec.serviceName'),
    'apps/controllerrevisions': immutableFields('data'),
    'rbac.authorization.k8s.io/roles': roleStrategy({ hasUrls: false }),
    'rbac.authorization.k8s.io/clusterroles': roleStrategy({ hasUrls: true }),
    'rbac.authorization.k8s.io/rolebindings': bindingStrategy(['Role', 'ClusterRole']),
    'rbac.authorization.k8s.io/clusterrolebindings': bindingStrategy(['ClusterRole']),
    'scheduling.k8s.io/priorityclasses': immutableFields('value'),
    'storage.k8s.io/storageclasses': immutableFields('provisioner', 'parameters', 'reclaimPolicy', 'volumeBindingMode'),
    'apiextensions.k8s.io/customresourcedefinitions': crdStrategy({ store, clock }),
  };
}
