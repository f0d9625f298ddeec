/** Answers: one object, a list, or a failure, in the shape the client asked for. */
import { stringify } from 'yaml';
import { ApiError, messageOf } from '../../../base/errors.ts';
import type { JsonObject } from '../../../base/json.ts';
import type { Entry } from '../../store/entry.ts';
import { acceptEntries, negotiate, type Representation } from '../request/negotiate.ts';
import type { Call } from '../server-parts.ts';
import { tableFor } from '../tables/table.ts';
import type { AnyObject, ResourceType } from '../types/resource-type.ts';
import { listTexts, streamOrText } from './list-text.ts';

export type ListMetadata = { readonly resourceVersion: string; readonly continue?: string; readonly remainingItemCount?: number };

const MOST_WARNING_CHARACTERS = 4096;

/** One object, possibly as a table of one row or as metadata only. */
export function respondObject(call: Call, object: AnyObject, status = 200): Response {
  const representation = negotiate(call.request);
  return encode(viewOf(call, object, representation), { status, representation, warnings: call.warnings });
}

/** A list of objects, stored or not. */
export function respondObjects(call: Call, objects: readonly AnyObject[], metadata: ListMetadata): Response {
  const representation = negotiate(call.request);
  return encode(listView(call, objects, metadata, representation), { status: 200, representation, warnings: call.warnings });
}

/** One stored object. */
export function respondEntry(call: Call, entry: Entry): Response {
  const { parts, type, request, warnings } = call;
  const representation = negotiate(request);
  if (!isPlain(representation)) return respondObject(call, parts.renderer.render(type, entry));
  return new Response(parts.renderer.renderText(type, entry), { headers: headersFor(representation, warnings) });
}

/** A list of stored objects, in key order. */
export function respondList(call: Call, entries: readonly Entry[], metadata: ListMetadata): Response {
  const { parts, type, request, warnings } = call;
  const representation = negotiate(request);
  if (!isPlain(representation)) {
    const objects = entries.map((entry) => parts.renderer.render(type, entry));
    return respondObjects(call, objects, metadata);
  }
  const head = JSON.stringify({ kind: type.listKind, apiVersion: listApiVersion(type), metadata });
  const texts = listTexts(head, entries, (entry) => parts.renderer.renderText(type, entry));
  return new Response(streamOrText(texts), { headers: headersFor(representation, warnings) });
}

/** Anything that is not an API object of the store: discovery, versions, reviews. */
export function respondJson(
  value: unknown,
  options: { status?: number; headers?: Readonly<Record<string, string>>; request?: Request } = {},
): Response {
  const first = acceptEntries(options.request?.headers.get('accept') ?? null)[0]?.type;
  const isYaml = first === 'application/yaml';
  const headers = {
    'content-type': isYaml ? 'application/yaml' : 'application/json',
    'cache-control': 'no-cache, private',
    ...options.headers,
  };
  return new Response(isYaml ? stringify(value) : JSON.stringify(value), { status: options.status ?? 200, headers });
}

/** A failure as the Status object it stands for; what is not an ApiError is our own defect. */
export function respondError(error: unknown, warnings: readonly string[] = []): Response {
  const known = error instanceof ApiError ? error : new ApiError('InternalError', `Internal error occurred: ${messageOf(error)}`);
  const headers = new Headers({ 'content-type': 'application/json', 'cache-control': 'no-cache, private' });
  const retryAfter = known.details?.retryAfterSeconds;
  if (retryAfter !== undefined) headers.set('retry-after', String(retryAfter));
  addWarnings(headers, warnings);
  return new Response(JSON.stringify(statusOf(known)), { status: known.code, headers });
}

/** The Status object of a failure. */
export function statusOf({ message, reason, details, code }: ApiError): JsonObject {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, ...(details && { details }), code };
}

/** How one object is shown in a view; watches use it for every event. */
export function viewOf(call: Call, object: AnyObject, representation: Representation): JsonObject {
  switch (representation.as) {
    case 'object':
      return object;
    case 'partial':
      return partialOf(object, representation.version);
    case 'table':
      return tableOf(call, [object], { resourceVersion: object.metadata.resourceVersion ?? '' }, representation);
  }
}

function listView(call: Call, objects: readonly AnyObject[], metadata: ListMetadata, representation: Representation): JsonObject {
  switch (representation.as) {
    case 'object':
      return { kind: call.type.listKind, apiVersion: listApiVersion(call.type), metadata, items: objects };
    case 'partial': {
      const items = objects.map((object) => partialOf(object, representation.version));
      return { kind: 'PartialObjectMetadataList', apiVersion: `meta.k8s.io/${representation.version}`, metadata, items };
    }
    case 'table':
      return tableOf(call, objects, metadata, representation);
  }
}

/** Rows for `objects`, with the column definitions of their kind. */
export function tableOf(call: Call, objects: readonly AnyObject[], metadata: ListMetadata, { version }: Representation): JsonObject {
  const { type, query, parts } = call;
  const asked = query.get('includeObject') || 'Metadata';
  if (asked !== 'Metadata' && asked !== 'Object' && asked !== 'None') {
    throw new ApiError('BadRequest', `unrecognized includeObject value: ${JSON.stringify(asked)}`);
  }
  const table = tableFor({
    resource: { group: type.group, kind: type.kind },
    columns: type.printerColumns,
    objects,
    metadata,
    includeObject: asked,
    nowMs: parts.clock.now(),
  });
  return { ...table, apiVersion: `meta.k8s.io/${version}` };
}

function partialOf(object: AnyObject, version: string): JsonObject {
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata: object.metadata };
}

function listApiVersion({ group, version }: ResourceType): string {
  return group === '' ? version : `${group}/${version}`;
}

/** True for objects as they are, in JSON: what nearly everybody asks for, and what is stored. */
export function isPlain({ as, encoding }: Representation): boolean {
  return as === 'object' && encoding !== 'yaml';
}

function headersFor({ encoding }: Representation, warnings: readonly string[]): Headers {
  const type = encoding === 'yaml' ? 'application/yaml' : 'application/json';
  const headers = new Headers({ 'content-type': type, 'cache-control': 'no-cache, private' });
  addWarnings(headers, warnings);
  return headers;
}

function encode(value: JsonObject, options: { status: number; representation: Representation; warnings: readonly string[] }): Response {
  const { status, representation, warnings } = options;
  const text = representation.encoding === 'yaml' ? stringify(value) : JSON.stringify(value);
  return new Response(text, { status, headers: headersFor(representation, warnings) });
}

/** Adds what the client should know, in the form kubectl prints: as much as clients take in headers, which is what Kubernetes says at most. */
export function addWarnings(headers: Headers, warnings: readonly string[]): void {
  let left = MOST_WARNING_CHARACTERS;
  for (const text of new Set(warnings)) {
    left -= text.length;
    if (left < 0) return;
    const printable = text.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&');
    headers.append('warning', `299 - "${printable}"`);
  }
}
