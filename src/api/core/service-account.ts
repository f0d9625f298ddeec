/** A ServiceAccount: who a Pod is at the API. Only the fields that our components use. */
import type { KubeObject } from '../meta.ts';
import type { Resource } from '../resource.ts';

export type ServiceAccount = KubeObject & { readonly kind: 'ServiceAccount' };

export const SERVICE_ACCOUNTS: Resource<ServiceAccount> = {
  group: '',
  version: 'v1',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  isNamespaced: true,
};
