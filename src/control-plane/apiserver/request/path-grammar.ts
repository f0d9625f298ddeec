/** The URL grammar of the API: what a path names and which verb a request asks for. */
import { ApiError } from '../../../base/errors.ts';

export type ResourcePath = {
  readonly group: string;
  readonly version: string;
  readonly namespace: string | undefined;
  readonly resource: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  /** What follows the subresource (a proxied path, a port). */
  readonly rest: string | undefined;
};

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** Subresources of the Namespace kind, which would otherwise read as resources inside a namespace. */
const NAMESPACE_SUBRESOURCES: readonly string[] = ['status', 'finalize'];

/** The segments of a path, each decoded once; trailing and double slashes are forgiven. */
export function segmentsOf(pathname: string): string[] {
  const segments = pathname.split('/').filter((segment) => segment !== '');
  try {
    return segments.map((segment) => decodeURIComponent(segment));
  } catch {
    throw new ApiError('BadRequest', `the path ${JSON.stringify(pathname)} is not correctly percent-encoded`);
  }
}

/** What a path under /api/v1 or /apis/GROUP/VERSION names; undefined for every other path. */
export function parseResourcePath(pathname: string): ResourcePath | undefined {
  const segments = segmentsOf(pathname);
  const [root, first = '', second = ''] = segments;
  if (root === 'api' && segments.length > 2) return locate('', first, segments.slice(2));
  if (root === 'apis' && segments.length > 3) return locate(first, second, segments.slice(3));
  return undefined;
}

function locate(group: string, version: string, parts: readonly string[]): ResourcePath {
  const [first = '', second, third] = parts;
  const isInNamespace = first === 'namespaces' && third !== undefined && !(group === '' && NAMESPACE_SUBRESOURCES.includes(third));
  const [resource = '', name, subresource, ...rest] = isInNamespace ? parts.slice(2) : parts;
  return {
    group,
    version,
    namespace: isInNamespace ? second : undefined,
    resource,
    name,
    subresource,
    rest: rest.length > 0 ? rest.join('/') : undefined,
  };
}

/** The verb that authorization and admission see; undefined for a method the API does not have. */
export function verbOf(method: string, path: Pick<ResourcePath, 'name'>, query: URLSearchParams): Verb | undefined {
  const isCollection = path.name === undefined;
  switch (method) {
    case 'GET':
    case 'HEAD':
      return isWatch(query) ? 'watch' : isCollection ? 'list' : 'get';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return isCollection ? 'deletecollection' : 'delete';
    default:
      return undefined;
  }
}

/** `watch=1`, `watch=true`, or just `watch`. */
function isWatch(query: URLSearchParams): boolean {
  return isTrue(query.get('watch'));
}

export function isTrue(value: string | null): boolean {
  return value !== null && ['1', 't', 'true', 'True', 'TRUE', ''].includes(value);
}
