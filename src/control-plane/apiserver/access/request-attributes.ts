/** What a request wants to do, in the words of authorization. */
import { parseFieldSelector } from '../../../base/selectors.ts';

import { parseResourcePath, type Verb, verbOf } from '../request/path-grammar.ts';
import { methodNotAllowed } from '../response/api-errors.ts';
import { isPodStream } from '../subresources/pod-stream.ts';
import type { Attributes } from './policy-rule.ts';

/** MethodNotAllowed for a method that the API does not have. */
export function attributesOf(method: string, url: URL): Attributes {
  const path = parseResourcePath(url.pathname);
  if (!path) return { type: 'path', verb: method.toLowerCase(), path: url.pathname };
  const verb = verbOf(method, path, url.searchParams);
  if (!verb) throw methodNotAllowed();
  const { group, resource, subresource } = path;
  // A Namespace object is in its own namespace: that is how a role there can grant access to it.
  const namespace = group === '' && resource === 'namespaces' ? path.name : path.namespace;
  const name = nameForAuthorization(verb, path.name, url.searchParams);
  return { type: 'resource', verb, group, resource, subresource, namespace, name };
}

/**
 * The same of a connection that leaves HTTP. Streams of Pods are always `create`: whether a client opens one with GET (WebSockets) or POST
 * (SPDY) is up to its version, and who may only read must not run programs.
 */
export function upgradeAttributesOf(method: string, url: URL): Attributes {
  const attributes = attributesOf(method, url);
  return attributes.type === 'resource' && isPodStream(attributes) ? { ...attributes, verb: 'create' } : attributes;
}

/**
 * The name a request is about: a collection request that selects exactly one name counts as being about it. Read by the parser that
 * selects the objects, so that what is authorized is what is answered.
 */
function nameForAuthorization(verb: Verb, name: string | undefined, query: URLSearchParams): string | undefined {
  if (name !== undefined || verb === 'create') return name;
  const terms = fieldTermsOf(query.get('fieldSelector') ?? '');
  return terms.find(({ path, isNegated }) => path === 'metadata.name' && !isNegated)?.value;
}

/** None for a selector that cannot be read: such a request selects nothing that a name could stand for, and is refused later. */
function fieldTermsOf(text: string): ReturnType<typeof parseFieldSelector> {
  try {
    return parseFieldSelector(text);
  } catch {
    return [];
  }
}
