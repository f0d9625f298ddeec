/** What a request wants to do, in the words of authorization. */

import { parseResourcePath, type Verb, verbOf } from '../request/path-grammar.ts';
import { methodNotAllowed } from '../response/api-errors.ts';
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

/** The name a request is about: a collection request that selects one name counts as being about it. */
function nameForAuthorization(verb: Verb, name: string | undefined, query: URLSearchParams): string | undefined {
  if (name !== undefined || verb === 'create') return name;
  return /(?:^|,)metadata\.name==?([^,]+)(?:,|$)/.exec(query.get('fieldSelector') ?? '')?.[1];
}
