/** /openapi: documents are made when first asked for and kept until what is served changes. Hashed ones may be cached for ever. */
import { createHash } from 'node:crypto';
import type { JsonObject } from '../../../base/json.ts';
import { acceptEntries } from '../request/negotiate.ts';
import { unknownPath } from '../response/api-errors.ts';
import { respondJson } from '../response/respond.ts';
import type { ResourceRegistry } from '../types/resource-registry.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { openApiV2, openApiV2Protobuf } from './v2.ts';
import { type OpenApiResource, openApiV3Document } from './v3.ts';

type Document = { readonly text: string; readonly hash: string };

/** Go refuses a media type with `@` in it, so the answer is spelled with a dot whatever was asked for. */
const V2_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const V2_PROTOBUF_ACCEPTED = [V2_PROTOBUF, 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'];
const FOR_EVER = 'Fri, 31 Dec 2100 00:00:00 GMT';

export class OpenApiDocuments {
  readonly #registry: ResourceRegistry;
  #changes = -1;
  #v3 = new Map<string, Document>();
  #v2: Document | undefined;
  #v2Protobuf: Uint8Array<ArrayBuffer> | undefined;

  constructor(registry: ResourceRegistry) {
    this.#registry = registry;
  }

  /** `/openapi/v3`: where each document is, with a hash that changes when it does. */
  index(request: Request): Response {
    this.#refresh();
    const paths = Object.fromEntries(
      [...this.#groupVersions().keys()].map((path) => [
        path,
        { serverRelativeURL: `/openapi/v3/${path}?hash=${this.#document(path)?.hash}` },
      ]),
    );
    return respondJson({ paths }, { request });
  }

  /** `/openapi/v3/api/v1` or `/openapi/v3/apis/GROUP/VERSION`. */
  v3(path: string, url: URL, request: Request): Response {
    this.#refresh();
    const document = this.#document(path);
    if (!document) throw unknownPath();
    const asked = url.searchParams.get('hash');
    if (asked !== null && asked !== document.hash) {
      return new Response(null, { status: 301, headers: { location: `${url.pathname}?hash=${document.hash}` } });
    }
    return cached(document, { isForEver: asked !== null, request });
  }

  /** `/openapi/v2`, as protobuf for those who ask for it. */
  v2(request: Request): Response {
    this.#refresh();
    const wantsProtobuf = acceptEntries(request.headers.get('accept')).some(({ type }) => V2_PROTOBUF_ACCEPTED.includes(type));
    if (wantsProtobuf) {
      this.#v2Protobuf ??= new Uint8Array(openApiV2Protobuf(this.#all()));
      return new Response(this.#v2Protobuf, { headers: { 'content-type': V2_PROTOBUF, 'cache-control': 'no-cache, private' } });
    }
    this.#v2 ??= documentOf(openApiV2(this.#all()));
    return cached(this.#v2, { isForEver: false, request });
  }

  #refresh(): void {
    if (this.#changes === this.#registry.changes) return;
    this.#changes = this.#registry.changes;
    this.#v3 = new Map();
    this.#v2 = undefined;
    this.#v2Protobuf = undefined;
  }

  #document(path: string): Document | undefined {
    const known = this.#v3.get(path);
    if (known) return known;
    const resources = this.#groupVersions().get(path);
    if (!resources) return undefined;
    const document = documentOf(openApiV3Document(path, resources));
    this.#v3.set(path, document);
    return document;
  }

  #groupVersions(): Map<string, OpenApiResource[]> {
    const found = new Map<string, OpenApiResource[]>();
    for (const resource of this.#all()) {
      const path = resource.group === '' ? `api/${resource.version}` : `apis/${resource.group}/${resource.version}`;
      found.set(path, [...(found.get(path) ?? []), resource]);
    }
    return found;
  }

  #all(): OpenApiResource[] {
    return this.#registry.types().flatMap(openApiResource);
  }
}

function openApiResource({ group, version, kind, plural, isNamespaced, schema, isBuiltIn, subresources }: ResourceType): OpenApiResource[] {
  return [{ group, version, kind, plural, namespaced: isNamespaced, schema: schema ?? { type: 'object' }, isBuiltIn, subresources }];
}

function documentOf(value: JsonObject): Document {
  const text = JSON.stringify(value);
  return { text, hash: createHash('sha256').update(text).digest('hex').toUpperCase() };
}

function cached({ text, hash }: Document, { isForEver, request }: { isForEver: boolean; request: Request }): Response {
  const etag = `"${hash}"`;
  const caching: Record<string, string> = isForEver
    ? { 'cache-control': 'public, immutable', expires: FOR_EVER }
    : { 'cache-control': 'no-cache, private' };
  const headers = { ...caching, etag, vary: 'Accept', 'content-type': 'application/json' };
  if (request.headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers });
  return new Response(text, { headers });
}
