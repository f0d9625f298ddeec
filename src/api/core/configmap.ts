/** A ConfigMap. Only the fields that our components use. */
import type { KubeObject } from '../meta.ts';
import type { Resource } from '../resource.ts';

export type ConfigMap = KubeObject & { readonly kind: 'ConfigMap'; readonly data?: Readonly<Record<string, string>> };

export const CONFIG_MAPS: Resource<ConfigMap> = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', isNamespaced: true };
