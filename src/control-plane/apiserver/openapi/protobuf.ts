/** Writes protobuf wire format. A message is the bytes of its fields one after another; each function makes the bytes of one field. */
const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const encoder = new TextEncoder();

/** A message out of its fields. */
export function message(...fields: readonly Uint8Array[]): Uint8Array {
  const result = new Uint8Array(fields.reduce((sum, field) => sum + field.length, 0));
  let at = 0;
  for (const field of fields) {
    result.set(field, at);
    at += field.length;
  }
  return result;
}

/** No field at all: how proto3 writes a value that is not set. */
export const NOTHING: Uint8Array = new Uint8Array(0);

/** A message as a field of another; written even when it is empty, since being there can mean something. */
export function messageField(number: number, value: Uint8Array): Uint8Array {
  return message(tag(number, BYTES), varint(value.length), value);
}

/** A text. */
export function stringField(number: number, value: unknown): Uint8Array {
  return typeof value === 'string' && value !== '' ? messageField(number, encoder.encode(value)) : NOTHING;
}

/** Each text of a list. */
export function stringFields(number: number, values: unknown): Uint8Array {
  return Array.isArray(values) ? message(...values.map((value) => messageField(number, encoder.encode(String(value))))) : NOTHING;
}

/** A truth value. */
export function boolField(number: number, value: unknown): Uint8Array {
  return value === true ? message(tag(number, VARINT), varint(1)) : NOTHING;
}

/** A whole number that is not negative: lengths and counts. */
export function countField(number: number, value: unknown): Uint8Array {
  return typeof value === 'number' && value > 0 ? message(tag(number, VARINT), varint(value)) : NOTHING;
}

/** A floating point number. */
export function doubleField(number: number, value: unknown): Uint8Array {
  if (typeof value !== 'number' || value === 0) return NOTHING;
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value, true);
  return message(tag(number, FIXED64), bytes);
}

function tag(number: number, wireType: number): Uint8Array {
  return varint(number * 8 + wireType);
}

/** Division instead of shifts: counts may be larger than 32 bits. */
function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) + 0x80);
    rest = Math.floor(rest / 0x80);
  }
  return Uint8Array.of(...bytes, rest);
}
