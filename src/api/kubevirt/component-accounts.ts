/** The service accounts of our components, embedded and on a cluster, by the names that KubeVirt has for them. */
import { INSTALL_NAMESPACE } from './names.ts';

export const COMPONENT_ACCOUNTS = {
  'virt-api': 'kubevirt-apiserver',
  'virt-controller': 'kubevirt-controller',
  'virt-handler': 'kubevirt-handler',
  'virt-operator': 'kubevirt-operator',
} as const;

/** The name by which the API server knows a component. */
export function userNameOf(component: keyof typeof COMPONENT_ACCOUNTS, namespace = INSTALL_NAMESPACE): string {
  return `system:serviceaccount:${namespace}:${COMPONENT_ACCOUNTS[component]}`;
}
