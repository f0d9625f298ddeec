/**
 * A protobuf message as the JSON object the same Go value would be: inlined structs flattened, zeros left out unless they were
 * meant, times, quantities and embedded JSON in their JSON form. Fields that the table does not know are skipped, as Go skips them.
 */
import { isObject, type JsonObject } from '../../../base/json.ts';
import { type Field, type FieldType, messageNamed } from './message-table.ts';
import { decodeWellKnown } from './well-known-messages.ts';
import { fieldsOf, malformed, type WireField } from './wire.ts';

/** Deeper than any API object, and shallow enough for every recursive function that will see it. */
const MAX_DEPTH = 100;
/** What a map's value is when it was left out because it is empty; objects are objects. */
const EMPTY: Readonly<Record<string, unknown>> = { string: '', bytes: '', bool: false, int: 0, double: 0, time: null, microTime: null };

/** The value of a message by its OpenAPI name: an object, or a list for the wrappers around lists. */
export function decodeMessage(name: string, bytes: Uint8Array, depth = 0): unknown {
  if (depth > MAX_DEPTH) throw malformed(`it is nested deeper than ${MAX_DEPTH} levels`);
  const message = messageNamed(name);
  if (!message) return {};
  if (message.form === 'items') return decodeItems(message.type, bytes, depth);
  const object: JsonObject = {};
  for (const wireField of fieldsOf(bytes)) {
    const field = message.fields.get(wireField.number);
    if (field) addField(object, field, { wireField, depth });
  }
  return object;
}

function decodeItems(type: FieldType, bytes: Uint8Array, depth: number): unknown {
  const holder: JsonObject = {};
  const field: Field = { ...type, name: 'items', keepsZero: true };
  for (const wireField of fieldsOf(bytes)) if (wireField.number === 1) addField(holder, field, { wireField, depth });
  return holder['items'] ?? (type.container === 'map' ? {} : []);
}

type Found = { readonly wireField: WireField; readonly depth: number };

function addField(object: JsonObject, field: Field, { wireField, depth }: Found): void {
  switch (field.container) {
    case 'none': {
      const value = decodeValue(field.item, wireField, depth);
      if (field.name === undefined) {
        if (isObject(value)) for (const [key, inner] of Object.entries(value)) setOwn(object, key, inner);
      } else if (value !== undefined && (field.keepsZero || !isZero(value))) setOwn(object, field.name, value);
      return;
    }
    case 'list': {
      const list = (object[field.name ?? ''] ?? []) as unknown[]; // only this function ever sets it
      const value = decodeValue(field.item, wireField, depth);
      if (value !== undefined) list.push(value);
      setOwn(object, field.name ?? '', list);
      return;
    }
    case 'map': {
      const map = (object[field.name ?? ''] ?? {}) as JsonObject; // only this function ever sets it
      const { key, value } = decodeMapEntry(field.item, wireField, depth);
      setOwn(map, key, value);
      setOwn(object, field.name ?? '', map);
    }
  }
}

function decodeMapEntry(item: string, wireField: WireField, depth: number): { key: string; value: unknown } {
  let key = '';
  let value: unknown;
  for (const part of fieldsOf(bytesOf(wireField))) {
    if (part.number === 1) key = textOf(part);
    if (part.number === 2) value = decodeValue(item, part, depth);
  }
  return { key, value: value !== undefined ? value : Object.hasOwn(EMPTY, item) ? EMPTY[item] : {} };
}

/** One value; undefined stands for a value that JSON leaves out. */
function decodeValue(item: string, wireField: WireField, depth: number): unknown {
  switch (item) {
    case 'string':
      return textOf(wireField);
    case 'bytes':
      return Buffer.from(bytesOf(wireField)).toString('base64');
    case 'bool':
      return varintOf(wireField) !== 0n;
    case 'int':
      return integerOf(wireField);
    case 'double':
      if (wireField.wire !== 'fixed' || wireField.value.byteLength !== 8) throw mismatch(wireField);
      return wireField.value.getFloat64(0, true);
    default: {
      const bytes = bytesOf(wireField);
      const known = decodeWellKnown(item, bytes, (name, inner) => decodeMessage(name, inner, depth + 1));
      return known.isKnown ? known.value : decodeMessage(item, bytes, depth + 1);
    }
  }
}

function isZero(value: unknown): boolean {
  return value === '' || value === 0 || value === false;
}

/** An assignment to `__proto__` would not make a field. */
function setOwn(object: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

function integerOf(wireField: WireField): number {
  const value = BigInt.asIntN(64, varintOf(wireField));
  if (value > BigInt(Number.MAX_SAFE_INTEGER) || value < BigInt(Number.MIN_SAFE_INTEGER)) {
    throw malformed(`its field ${wireField.number} has the number ${value}, which is too large`);
  }
  return Number(value);
}

function varintOf(wireField: WireField): bigint {
  if (wireField.wire !== 'varint') throw mismatch(wireField);
  return wireField.value;
}

function bytesOf(wireField: WireField): Uint8Array {
  if (wireField.wire !== 'bytes') throw mismatch(wireField);
  return wireField.value;
}

function textOf(wireField: WireField): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytesOf(wireField));
  } catch {
    throw malformed(`its field ${wireField.number} is not UTF-8 text`);
  }
}

function mismatch({ number, wire }: WireField): Error {
  return malformed(`its field ${number} cannot be of wire type ${wire}`);
}
