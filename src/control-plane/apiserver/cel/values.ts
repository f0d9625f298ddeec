/** Objects as expressions see them: whole numbers are int, times are timestamps, names of fields can be written. */
import { Duration } from '@marcbachmann/cel-js/evaluator';
import { isObject } from '../../../base/json.ts';
import { childOf, type Schema } from '../schema/schema.ts';

const KEYWORDS = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(' '),
);

/** How a rule of a definition writes the name of a field. */
export function escapedName(name: string): string {
  if (KEYWORDS.has(name)) return `__${name}__`;
  return name.replaceAll('__', '__underscores__').replaceAll('.', '__dot__').replaceAll('-', '__dash__').replaceAll('/', '__slash__');
}

/** The value for an expression; `isEscaped` for rules of definitions, where fields of the schema have names that can be written. */
export function celValue(schema: Schema | undefined, value: unknown, isEscaped: boolean): unknown {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return value.map((item) => celValue(schema?.items, item, isEscaped));
  if (isObject(value)) {
    const fields = Object.entries(value).filter(([key, each]) => each !== undefined && key !== '__proto__');
    const entries = fields.map(([key, each]): [string, unknown] => {
      const isNamed = schema?.properties !== undefined && Object.hasOwn(schema.properties, key);
      return [isEscaped && isNamed ? escapedName(key) : key, celValue(schema && childOf(schema, key), each, isEscaped)];
    });
    // The library asks plain objects for their constructor.
    return Object.hasOwn(value, 'constructor') ? new Map(entries) : Object.fromEntries(entries);
  }
  if (typeof value === 'number') return schema?.type !== 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
  return typeof value === 'string' ? textValue(schema, value) : value;
}

function textValue(schema: Schema | undefined, text: string): unknown {
  if (schema?.type !== 'string') return text;
  switch (schema.format) {
    case 'date-time': {
      const time = new Date(text);
      return Number.isNaN(time.getTime()) ? text : time;
    }
    case 'duration':
      return durationOf(text) ?? text;
    case 'byte':
      return new Uint8Array(Buffer.from(text, 'base64'));
    default:
      return text;
  }
}

const PARTS = /(\d+(?:\.\d+)?)(h|ms|m|s|us|µs|ns)/g;
const MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1, us: 1e-3, µs: 1e-3, ns: 1e-6 };

function durationOf(text: string): Duration | undefined {
  const parts = [...text.matchAll(PARTS)];
  if (parts.map(([part]) => part).join('') !== text.replace(/^[+-]/, '') || parts.length === 0) return undefined;
  const ms = parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (MS[unit ?? ''] ?? 0), 0) * (text.startsWith('-') ? -1 : 1);
  return new Duration(BigInt(Math.trunc(ms / 1_000)), Math.round((ms % 1_000) * 1e6));
}
