/** A Namespace, with the field that says whether it is on its way out. Only the fields that our components use. */
import type { KubeObject } from '../meta.ts';
import type { Resource } from '../resource.ts';

export type Namespace = KubeObject & { readonly kind: 'Namespace'; readonly status?: { readonly phase?: string } };

export const NAMESPACES: Resource<Namespace> = { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', isNamespaced: false };
