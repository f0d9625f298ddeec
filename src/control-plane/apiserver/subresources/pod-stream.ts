/** pods/exec, pods/attach, pods/portforward: what these paths name. The streams themselves are the node's. */
import type { Store } from '../../store/store.ts';
import type { ResourcePath } from '../request/path-grammar.ts';
import { notFound } from '../response/api-errors.ts';
import type { ResourceRegistry } from '../types/resource-registry.ts';
import { type AnyObject, storeKey } from '../types/resource-type.ts';

const STREAMS: readonly string[] = ['exec', 'attach', 'portforward'];

export function isPodStream({
  group,
  resource,
  subresource = '',
}: {
  group: string;
  resource: string;
  subresource: string | undefined;
}): boolean {
  return group === '' && resource === 'pods' && STREAMS.includes(subresource);
}

/** The Pod whose stream a path names; undefined for other paths, NotFound for a Pod that is not there. */
export function podOfStream({ registry, store }: { registry: ResourceRegistry; store: Store }, path: ResourcePath): AnyObject | undefined {
  const type = registry.find(path.group, path.version, path.resource);
  if (!type || !isPodStream(path) || path.namespace === undefined || path.name === undefined) return undefined;
  const pod = store.get(storeKey(type, path.namespace, path.name))?.value;
  if (!pod) throw notFound(type, path.name);
  return pod as AnyObject;
}
