/** A Secret; its values are base64. Only the fields that our components use. */
import type { KubeObject } from '../meta.ts';
import type { Resource } from '../resource.ts';

export type Secret = KubeObject & { readonly kind: 'Secret'; readonly type?: string; readonly data?: Readonly<Record<string, string>> };

export const SECRETS: Resource<Secret> = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', isNamespaced: true };
