/** ConfigMaps and Secrets: plain text becomes data, and what was declared immutable stays as it is. */
import { forbiddenCause, invalidCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { deepEqual, isObject } from '../../../base/json.ts';
import type { AnyObject, Strategy } from '../types/resource-type.ts';

export const configMapStrategy: Strategy = { validate: (object, old) => (old ? validateImmutable(object, old) : []) };

export const secretStrategy: Strategy = {
  prepareCreate: withEncodedText,
  prepareUpdate: (object) => withEncodedText(object),
  validate: (object, old) => (old ? [...validateImmutable(object, old), ...validateType(object, old)] : []),
};

/** `stringData` is write-only: its texts end up base64-encoded in `data`. */
function withEncodedText(object: AnyObject): AnyObject {
  const { stringData, ...rest } = object;
  const typed = { ...rest, type: object['type'] || 'Opaque' } as unknown as AnyObject; // only an optional field was taken away
  if (!isObject(stringData)) return typed;
  const encoded = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(String(text)).toString('base64')]);
  return { ...typed, data: { ...(isObject(object['data']) && object['data']), ...Object.fromEntries(encoded) } };
}

function validateImmutable(object: AnyObject, old: AnyObject): StatusCause[] {
  if (old['immutable'] !== true) return [];
  const text = 'field is immutable when `immutable` is set';
  return ['immutable', 'data', 'binaryData']
    .filter((field) => !deepEqual(object[field], old[field]))
    .map((field) => forbiddenCause(field, text));
}

function validateType(object: AnyObject, old: AnyObject): StatusCause[] {
  return object['type'] === old['type'] ? [] : [invalidCause('type', object['type'], 'field is immutable')];
}
