/** Request bodies as objects: JSON (also when no type is named), YAML, and protobuf for the kinds Kubernetes itself defines. */
import { ApiError } from '../../../base/errors.ts';
import { isObject, type JsonObject } from '../../../base/json.ts';
import { decodeObject, PROTOBUF_TYPE } from '../protobuf/decode-object.ts';
import { parseJson, parseYaml } from './parse-text.ts';

const MAX_BYTES = 3 * 1024 * 1024;
/** The time a real server gives a whole request. */
const BODY_TIMEOUT_MS = 60_000;
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
  return decodeBytes(mediaTypeOf(request), await readBody(request));
}

/** True for a body that is JSON, said or not. */
export function isJson(mediaType: string): boolean {
  return JSON_TYPES.includes(mediaType);
}

/** The bytes of a body as an object; no bytes are undefined. */
export function decodeBytes(mediaType: string, bytes: Uint8Array): JsonObject | undefined {
  if (bytes.length === 0) return undefined;
  const value = decode(mediaType, bytes);
  if (!isObject(value)) throw new ApiError('BadRequest', 'the body of the request must be an object');
  return value;
}

function decode(mediaType: string, bytes: Uint8Array): unknown {
  if (isJson(mediaType)) return parseJson(bytes);
  if (YAML_TYPES.includes(mediaType)) return parseYaml(bytes);
  if (mediaType === PROTOBUF_TYPE) return decodeObject(bytes);
  const supported = [...JSON_TYPES.slice(1), 'application/yaml', PROTOBUF_TYPE].join(', ');
  throw new ApiError(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${supported}`,
  );
}

/** All bytes of the body; RequestEntityTooLarge as soon as there are too many, Timeout (408) when they do not come. */
export async function readBody(request: Request, { timeoutMs = BODY_TIMEOUT_MS } = {}): Promise<Uint8Array> {
  if (!request.body) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  let isLate = false;
  const reader = request.body.getReader();
  const stop = () => void reader.cancel().catch(() => {}); // a body that broke has nothing left to stop
  const timer = setTimeout(() => {
    isLate = true;
    stop();
  }, timeoutMs);
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (isLate) throw tooLate(timeoutMs);
      if (done) return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
      length += value.length;
      if (length > MAX_BYTES) throw new ApiError('RequestEntityTooLarge', `Request entity too large: limit is ${MAX_BYTES}`);
      chunks.push(value);
    }
  } finally {
    clearTimeout(timer);
    stop();
  }
}

function tooLate(timeoutMs: number): ApiError {
  return new ApiError('Timeout', `the body of the request did not arrive within ${timeoutMs / 1000} s`, { code: 408 });
}
