/** The URL grammar of the API: what a path names and which verb a request asks for. */
import { ApiError } from '../../../base/errors.ts';

export type ResourcePath = {
  readonly group: string;
  readonly version: string;
  readonly namespace: string | undefined;
  readonly resource: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  /** What follows the subresource (a port), decoded. */
  readonly rest: string | undefined;
  /** The same as it was sent, with its slashes: '' or `/...`. For whoever passes the request on. */
  readonly rawRest: string;
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
  if (root === 'api' && segments.length > 2) return locate({ group: '', version: first, pathname, before: 2, parts: segments.slice(2) });
  if (root === 'apis' && segments.length > 3)
    return locate({ group: first, version: second, pathname, before: 3, parts: segments.slice(3) });
  return undefined;
}

type Place = {
  readonly group: string;
  readonly version: string;
  readonly pathname: string;
  /** How many segments come before `parts`. */
  readonly before: number;
  readonly parts: readonly string[];
};

function locate({ group, version, pathname, before, parts }: Place): ResourcePath {
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
    rawRest: afterSegments(pathname, before + (isInNamespace ? 5 : 3)),
  };
}

/** What follows the first segments of a path, from its slash on. */
function afterSegments(pathname: string, count: number): string {
  let at = 0;
  for (let passed = 0; passed < count; passed += 1) {
    while (pathname[at] === '/') at += 1;
    const end = pathname.indexOf('/', at);
    at = end < 0 ? pathname.length : end;
  }
  return pathname.slice(at);
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
