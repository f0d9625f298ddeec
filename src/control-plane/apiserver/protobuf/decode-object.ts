/** A protobuf body as an API object: the envelope says its kind, the table of that kind says the rest. */
import { ApiError } from '../../../base/errors.ts';
import { isObject, type JsonObject } from '../../../base/json.ts';
import { KINDS } from '../schema/generated/built-in.ts';
import { decodeMessage } from './decode-message.ts';
import { MORE_KINDS } from './generated/fields.ts';
import { fieldsOf, malformed } from './wire.ts';

export const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';
const MAGIC = [0x6b, 0x38, 0x73, 0x00];
const MESSAGE_OF: Readonly<Record<string, string>> = { ...MORE_KINDS, ...KINDS };
const DELETE_OPTIONS = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions';

/** The object in `body`; UnsupportedMediaType for kinds that only exist as JSON, BadRequest for what is not an object at all. */
export function decodeObject(body: Uint8Array): JsonObject {
  if (!MAGIC.every((byte, i) => body[i] === byte)) throw malformed('it does not start with the bytes of an API object');
  const { apiVersion, kind, raw } = readEnvelope(body.subarray(MAGIC.length));
  const value = decodeMessage(definitionOf(apiVersion, kind), raw);
  if (!isObject(value)) throw malformed(`a ${kind} is not an object`);
  return { ...value, apiVersion, kind };
}

function readEnvelope(message: Uint8Array): { apiVersion: string; kind: string; raw: Uint8Array } {
  const texts = { apiVersion: '', kind: '' };
  let raw = new Uint8Array();
  for (const { number, wire, value } of fieldsOf(message)) {
    if (wire !== 'bytes') continue;
    if (number === 1) Object.assign(texts, readTypeMeta(value));
    if (number === 2) raw = Uint8Array.from(value);
    if (number === 3 && value.length > 0) throw malformed('its content is encoded');
  }
  if (texts.kind === '') throw malformed('it does not say its kind');
  return { ...texts, raw };
}

function readTypeMeta(message: Uint8Array): Partial<Record<'apiVersion' | 'kind', string>> {
  const texts: Partial<Record<'apiVersion' | 'kind', string>> = {};
  for (const { number, wire, value } of fieldsOf(message)) {
    if (wire === 'bytes' && number === 1) texts.apiVersion = new TextDecoder().decode(value);
    if (wire === 'bytes' && number === 2) texts.kind = new TextDecoder().decode(value);
  }
  return texts;
}

/** Options of a deletion come with the apiVersion of what is deleted and look the same everywhere. */
function definitionOf(apiVersion: string, kind: string): string {
  if (kind === 'DeleteOptions') return DELETE_OPTIONS;
  const name = `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}/${kind}`;
  const definition = Object.hasOwn(MESSAGE_OF, name) ? MESSAGE_OF[name] : undefined;
  if (definition !== undefined) return definition;
  throw new ApiError('UnsupportedMediaType', `${kind} in version "${apiVersion}" cannot be read as protobuf: send JSON or YAML`);
}
