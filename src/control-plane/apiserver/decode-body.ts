/**
 * Request bodies as objects: JSON (also when no type is named) and YAML, bounded in size and depth.
 * Protobuf bodies are refused here and only here: a decoder for them belongs into `decode`.
 */
import { parse } from 'yaml';
import { ApiError, messageOf } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json.ts';

const MAX_BYTES = 3 * 1024 * 1024;
/** Deeper than any API object, and shallow enough for every recursive function that will see it. */
const MAX_DEPTH = 200;
const JSON_TYPES = ['', 'application/json'];
const YAML_TYPES = ['application/yaml', 'application/x-yaml', 'text/yaml'];

/** The media type without its parameters, in lower case; '' when there is none. */
export function mediaTypeOf(request: Request): string {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  // A Request made from a string says text/plain by itself; no API body is that, so it means that nothing was said.
  return type === 'text/plain' ? '' : type;
}

/** The body as an object; an empty body is undefined. */
export async function decodeBody(request: Request): Promise<JsonObject | undefined> {
  const mediaType = mediaTypeOf(request);
  const bytes = await readBody(request);
  if (bytes.length === 0) return undefined;
  const value = decode(mediaType, bytes);
  if (!isObject(value)) throw new ApiError('BadRequest', 'the body of the request must be an object');
  return value;
}

function decode(mediaType: string, bytes: Uint8Array): unknown {
  if (JSON_TYPES.includes(mediaType)) return parseJson(bytes);
  if (YAML_TYPES.includes(mediaType)) return parseYaml(bytes);
  const supported = [...JSON_TYPES.slice(1), 'application/yaml'].join(', ');
  throw new ApiError(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${supported}`,
  );
}

/** All bytes of the body; RequestEntityTooLarge as soon as there are too many. */
export async function readBody(request: Request): Promise<Uint8Array> {
  if (!request.body) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body) {
    length += chunk.length;
    if (length > MAX_BYTES) throw new ApiError('RequestEntityTooLarge', `Request entity too large: limit is ${MAX_BYTES}`);
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

/** JSON from bytes, not deeper than an API object can be. */
export function parseJson(bytes: Uint8Array): unknown {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new ApiError('BadRequest', `the body of the request is not JSON: ${messageOf(error)}`);
  }
  assertDepth(value);
  return value;
}

/** YAML (and so JSON, too) from bytes; aliases are limited by the parser. */
export function parseYaml(bytes: Uint8Array): unknown {
  let value: unknown;
  try {
    value = parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes), { version: '1.1', schema: 'core' });
  } catch (error) {
    throw new ApiError('BadRequest', `the body of the request is not YAML: ${messageOf(error)}`);
  }
  assertDepth(value);
  return value;
}

function assertDepth(value: unknown): void {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) throw new ApiError('BadRequest', `the body of the request is nested deeper than ${MAX_DEPTH} levels`);
    level = level.flatMap((item) => (Array.isArray(item) ? item : isObject(item) ? Object.values(item) : []));
  }
}
