/** pods/exec, pods/attach, pods/portforward: what these paths name. The streams themselves are the node's. */
import { containerNameOf } from '../../../api/core/container-name.ts';
import type { Pod } from '../../../api/core/pod.ts';
import { ApiError } from '../../../base/errors.ts';
import type { Store } from '../../store/store.ts';
import type { ResourcePath } from '../request/path-grammar.ts';
import { methodNotAllowed, notFound } from '../response/api-errors.ts';
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

type Asked = { readonly method: string; readonly path: ResourcePath; readonly query: URLSearchParams };

/**
 * The Pod whose stream is asked for; undefined for other paths. What the real API server finds before it asks the node is found here, in its
 * words: a container that is not there, and a Pod that no node has.
 */
export function podOfStream({ registry, store }: { registry: ResourceRegistry; store: Store }, asked: Asked): AnyObject | undefined {
  const { method, path, query } = asked;
  const type = registry.find(path.group, path.version, path.resource);
  if (!type || !isPodStream(path) || path.namespace === undefined || path.name === undefined) return undefined;
  if (method !== 'GET' && method !== 'POST') throw methodNotAllowed();
  const pod = store.get(storeKey(type, path.namespace, path.name))?.value as AnyObject | undefined;
  if (!pod) throw notFound(type, path.name);
  const { spec } = pod as unknown as Pod; // its shape was checked by the schema
  if (path.subresource !== 'portforward') containerNameOf(pod as unknown as Pod, query.get('container') || undefined);
  if (!spec.nodeName) throw new ApiError('BadRequest', `pod ${path.name} does not have a host assigned`);
  const nodes = registry.find('', 'v1', 'nodes');
  if (nodes && !store.get(storeKey(nodes, undefined, spec.nodeName))) throw notFound(type, spec.nodeName);
  return pod;
}
