/** Which URL an object kind lives under. A Resource is all a client needs to know to read and write a kind. */
import type { KubeObject } from './meta.ts';

/** `Kind` is carried only in the type, so that `client.get(PODS, ...)` gives a Pod. */
export type Resource<Kind extends KubeObject = KubeObject> = {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: Kind['kind'];
  readonly isNamespaced: boolean;
  /** Never set: by this the compiler knows the type of the objects also where a record says more than a Resource. */
  readonly objects?: Kind;
};

export function apiVersionOf({ group, version }: Pick<Resource, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}

/** The path of the collection, or of one object when a name is given. */
export function pathOf(resource: Resource, at: { namespace?: string; name?: string; subresource?: string } = {}): string {
  const { group, version, plural, isNamespaced } = resource;
  const parts = [group === '' ? `/api/${version}` : `/apis/${group}/${version}`];
  if (isNamespaced && at.namespace) parts.push('namespaces', encodeURIComponent(at.namespace));
  parts.push(plural);
  if (at.name) parts.push(encodeURIComponent(at.name));
  if (at.subresource) parts.push(at.subresource);
  return parts.join('/');
}
