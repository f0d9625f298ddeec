/**
 * A thin typed client for the Kubernetes API over an injected `fetch`: the same code runs inside the embedded
 * process (the API server's own fetch), against a cluster (a TLS fetch) and in a browser.
 */

import type { KubeObject } from '../api/meta.ts';
import { apiVersionOf, pathOf, type Resource } from '../api/resource.ts';
import { ApiError, STATUS_CODES, type StatusDetails, type StatusReason } from '../base/errors.ts';
import { isObject } from '../base/json.ts';
import { readLines } from './lines.ts';
import type { SharedObjects } from './shared-objects.ts';
import { urlAt } from './url-at.ts';

/** Takes a Request with an absolute URL; everything about transport and identity is inside. */
export type KubeFetch = (request: Request) => Promise<Response>;

export type At = { readonly namespace?: string; readonly name: string };
export type ListOptions = { readonly namespace?: string; readonly labelSelector?: string; readonly fieldSelector?: string };
export type WatchOptions = ListOptions & { readonly resourceVersion?: string; readonly signal?: AbortSignal };
export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly object: KubeObject };
export type PatchOptions = { readonly subresource?: string; readonly type?: keyof typeof PATCH_TYPES; readonly signal?: AbortSignal };
export type DeleteOptions = {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly signal?: AbortSignal;
};
export type Listed<T> = { readonly items: readonly T[]; readonly resourceVersion: string };

/** Every method but `get` throws ApiError; absence is an answer only where it was asked for. */
export type Client = {
  get<T extends KubeObject>(resource: Resource<T>, at: At, options?: { readonly signal?: AbortSignal }): Promise<T | undefined>;
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions & { readonly signal?: AbortSignal }): Promise<Listed<T>>;
  watch<T extends KubeObject>(resource: Resource<T>, options?: WatchOptions): AsyncIterable<WatchEvent<T>>;
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: { subresource?: string; signal?: AbortSignal }): Promise<T>;
  update<T extends KubeObject>(resource: Resource<T>, object: T, options?: { subresource?: string; signal?: AbortSignal }): Promise<T>;
  patch<T extends KubeObject>(resource: Resource<T>, at: At, patch: unknown, options?: PatchOptions): Promise<T>;
  /** Deleting what is already gone (or is another incarnation than `uid`) succeeds. */
  delete(resource: Resource, at: At, options?: DeleteOptions): Promise<void>;
  /** Anything else: subresources, logs, raw paths. Throws ApiError unless the answer is 2xx. */
  request(path: string, init?: RequestInit): Promise<Response>;
};

const PATCH_TYPES = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  /** Server-side, as the one whose word holds: creates what is not there, and takes back fields that are no longer sent. */
  apply: 'application/apply-patch+yaml',
} as const;

export type ClientOptions = {
  readonly fetch: KubeFetch;
  readonly baseUrl: string;
  readonly userAgent: string;
  /** With other clients of this process, for what is listed and watched. */
  readonly shared?: SharedObjects;
};

export function createClient(options: ClientOptions): Client {
  const { fetch, baseUrl, userAgent, shared } = options;
  const fieldManager = userAgent.split('/')[0];

  async function request(path: string, init: RequestInit = {}): Promise<Response> {
    init.signal?.throwIfAborted(); // not every `fetch` that we are given looks
    const headers = new Headers(init.headers);
    headers.set('user-agent', userAgent);
    if (!headers.has('accept')) headers.set('accept', 'application/json');
    const response = await fetch(new Request(urlAt(baseUrl, path), { ...init, headers }));
    if (!response.ok) throw await errorFrom(response);
    return response;
  }

  async function send<T>(
    method: string,
    path: string,
    body?: unknown,
    extra: { contentType?: string; signal?: AbortSignal } = {},
  ): Promise<T> {
    const headers = { 'content-type': extra.contentType ?? 'application/json' };
    const init: RequestInit = body === undefined ? { method } : { method, headers, body: JSON.stringify(body) };
    return (await (await request(path, { ...init, signal: extra.signal })).json()) as T;
  }

  return {
    request,
    async get(resource, at, { signal } = {}) {
      try {
        return await send('GET', pathOf(resource, at), undefined, { signal });
      } catch (error) {
        if (error instanceof ApiError && error.code === 404) return undefined;
        throw error;
      }
    },
    async list(resource, { namespace, signal, ...selectors } = {}) {
      const list = await send<RawList>('GET', `${pathOf(resource, { namespace })}${query(selectors)}`, undefined, { signal });
      const type = { apiVersion: apiVersionOf(resource), kind: resource.kind };
      const items = list.items.map((item) => ({ ...type, ...item }) as KubeObject); // of the kind that was asked for
      return { items: items.map((item) => (shared?.share(item) ?? item) as never), resourceVersion: list.metadata.resourceVersion };
    },
    async *watch(resource, { namespace, signal, ...rest } = {}) {
      const path = `${pathOf(resource, { namespace })}${query({ ...rest, watch: 'true', allowWatchBookmarks: 'true' })}`;
      const response = await request(path, { signal });
      for await (const line of readLines(response.body, signal)) yield watchEventFrom(line, shared);
    },
    create: (resource, object, { subresource, signal } = {}) => {
      const { namespace, name } = object.metadata;
      const path = subresource ? pathOf(resource, { namespace, name, subresource }) : pathOf(resource, { namespace });
      return send('POST', path, object, { signal });
    },
    update: (resource, object, { subresource, signal } = {}) =>
      send('PUT', pathOf(resource, { namespace: object.metadata.namespace, name: object.metadata.name, subresource }), object, { signal }),
    patch: (resource, at, patch, { subresource, type = 'merge', signal } = {}) =>
      send('PATCH', `${pathOf(resource, { ...at, subresource })}${type === 'apply' ? query({ fieldManager, force: 'true' }) : ''}`, patch, {
        contentType: PATCH_TYPES[type],
        signal,
      }),
    async delete(resource, at, { uid, resourceVersion, signal, ...rest } = {}) {
      const preconditions = uid || resourceVersion ? { uid, resourceVersion } : undefined;
      try {
        await send('DELETE', pathOf(resource, at), { apiVersion: 'v1', kind: 'DeleteOptions', preconditions, ...rest }, { signal });
      } catch (error) {
        const isGone =
          error instanceof ApiError && (error.code === 404 || (uid !== undefined && error.reason === 'Conflict' && !resourceVersion));
        if (!isGone) throw error;
      }
    },
  };
}

type RawList = { readonly items: readonly object[]; readonly metadata: { readonly resourceVersion: string } };

function query(values: Readonly<Record<string, string | undefined>>): string {
  const present = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '');
  return present.length === 0 ? '' : `?${new URLSearchParams(present)}`;
}

/** How a line starts that a Kubernetes API server writes: the object is the rest, up to the last brace. */
const OBJECT_EVENT = /^\{"type":"(ADDED|MODIFIED|DELETED)","object":/;

/** One line of a watch stream; an ERROR event becomes the exception it stands for. */
function watchEventFrom<T>(line: string, shared: SharedObjects | undefined): WatchEvent<T> {
  const [start, type] = (shared && OBJECT_EVENT.exec(line)) ?? [];
  if (shared && start !== undefined) return { type, object: shared.parse(line.slice(start.length, -1)) } as WatchEvent<T>;
  const event = JSON.parse(line) as { type: string; object: unknown };
  if (event.type === 'ERROR') throw errorFromStatus(event.object, 500);
  return event as WatchEvent<T>;
}

/** The failure that an answer other than 2xx stands for. */
export async function errorFrom(response: Response): Promise<ApiError> {
  const text = await response.text();
  try {
    return errorFromStatus(JSON.parse(text), response.status);
  } catch {
    return new ApiError(reasonFor(response.status), text.trim() || `the server answered ${response.status}`, { code: response.status });
  }
}

function errorFromStatus(status: unknown, httpCode: number): ApiError {
  if (!isObject(status) || status['kind'] !== 'Status') throw new SyntaxError('not a Status');
  const code = typeof status['code'] === 'number' ? status['code'] : httpCode;
  const reason = String(status['reason'] ?? '');
  const known = reason in STATUS_CODES ? (reason as StatusReason) : reasonFor(code);
  return new ApiError(known, String(status['message'] ?? reason), { code, details: status['details'] as StatusDetails | undefined });
}

function reasonFor(code: number): StatusReason {
  const found = Object.entries(STATUS_CODES).find(([, each]) => each === code)?.[0];
  return (found as StatusReason | undefined) ?? 'InternalError';
}
