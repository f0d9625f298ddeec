/** The messages whose JSON is not the sum of their fields: times, quantities, embedded JSON, and the unions of JSON schemas. */
import { parseJson } from '../request/parse-text.ts';
import { fieldsOf, malformed } from './wire.ts';

type Decode = (name: string, bytes: Uint8Array) => unknown;
type Parts = { readonly numbers: ReadonlyMap<number, number>; readonly runs: ReadonlyMap<number, readonly Uint8Array[]> };

const SCHEMA = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps';
const NANOS_PER_MICRO = 1000;
/** The years that RFC 3339 can write. */
const MIN_SECONDS = Date.UTC(0, 0, 1) / 1000 - 1900 * 366 * 86_400;
const MAX_SECONDS = Date.UTC(9999, 11, 31, 23, 59, 59) / 1000;

const DECODERS: Readonly<Record<string, (parts: Parts, decode: Decode) => unknown>> = {
  time: (parts) => isoTime(parts)?.replace(/\.\d+Z$/, 'Z'),
  microTime: (parts) => {
    const micros = Math.floor((parts.numbers.get(2) ?? 0) / NANOS_PER_MICRO);
    return isoTime(parts)?.replace(/\.\d+Z$/, `.${String(micros).padStart(6, '0')}Z`);
  },
  quantity: ({ runs }) => text(runs.get(1)?.at(-1)),
  intOrString: ({ numbers, runs }) => ((numbers.get(1) ?? 0) === 0 ? (numbers.get(2) ?? 0) : text(runs.get(3)?.at(-1))),
  json: ({ runs }) => {
    const bytes = runs.get(1)?.at(-1);
    return bytes && bytes.length > 0 ? parseJson(bytes) : undefined;
  },
  schemaOrBool: ({ numbers, runs }, decode) => {
    const schema = runs.get(2)?.at(-1);
    return schema ? decode(SCHEMA, schema) : numbers.get(1) === 1;
  },
  schemaOrArray: ({ runs }, decode) => {
    const schema = runs.get(1)?.at(-1);
    return schema ? decode(SCHEMA, schema) : (runs.get(2) ?? []).map((each) => decode(SCHEMA, each));
  },
  schemaOrStrings: ({ runs }, decode) => {
    const schema = runs.get(1)?.at(-1);
    return schema ? decode(SCHEMA, schema) : (runs.get(2) ?? []).map((each) => text(each));
  },
};

/** The JSON of a message of one of these types; its value is undefined when JSON leaves it out (the zero time). */
export function decodeWellKnown(
  type: string,
  bytes: Uint8Array,
  decode: Decode,
): { readonly isKnown: false } | { readonly isKnown: true; readonly value: unknown } {
  const decoder = Object.hasOwn(DECODERS, type) ? DECODERS[type] : undefined;
  return decoder ? { isKnown: true, value: decoder(partsOf(bytes), decode) } : { isKnown: false };
}

function partsOf(bytes: Uint8Array): Parts {
  const numbers = new Map<number, number>();
  const runs = new Map<number, Uint8Array[]>();
  for (const { number, wire, value } of fieldsOf(bytes)) {
    if (wire === 'varint') numbers.set(number, Number(BigInt.asIntN(64, value)));
    else if (wire === 'bytes') runs.set(number, [...(runs.get(number) ?? []), value]);
  }
  return { numbers, runs };
}

/** An empty message is Go's zero time, which no field means. */
function isoTime({ numbers }: Parts): string | undefined {
  if (numbers.size === 0) return undefined;
  const seconds = numbers.get(1) ?? 0;
  if (seconds < MIN_SECONDS || seconds > MAX_SECONDS) throw malformed(`${seconds} seconds are no time`);
  return new Date(seconds * 1000).toISOString();
}

function text(bytes: Uint8Array | undefined): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw malformed('a text is not UTF-8');
  }
}
