/** Objects that follow a schema but for some places, which hold what nobody expects there. The same seed gives the same objects. */
import type { Schema } from './schema/schema.ts';

const WRONG: readonly unknown[] = [
  null,
  0,
  -1,
  1e308,
  true,
  '',
  'x',
  '\u0000\u001b[31m',
  'é'.repeat(300),
  [],
  [null],
  [[]],
  [1, 'a', {}],
  {},
  { a: null },
  { toString: 1, valueOf: null },
  JSON.parse('{"__proto__": null, "constructor": {"prototype": 1}}'), // as it arrives; written down it would be no field
  2 ** 53,
  0.5,
  '1e400',
  '-99999999999999999999Gi',
  '../..',
  '\ud800',
  'x'.repeat(5_000),
  Array.from({ length: 200 }, (_, n) => n),
  JSON.parse(`${'['.repeat(60)}${']'.repeat(60)}`),
  JSON.parse(`${'{"a":'.repeat(60)}1${'}'.repeat(60)}`),
];
const MAX_DEPTH = 8;

export type Random = () => number;

/** One of them. */
export function pick<T>(random: Random, values: readonly T[]): T {
  return values[Math.floor(random() * values.length)] as T; // the index is below the length
}

/** Numbers from 0 up to but not including 1, by a seed (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What nobody expects. */
export function wrongValue(random: Random): unknown {
  return pick(random, WRONG);
}

/** A value for the schema; each place of it is something wrong with the given probability. */
export function fuzzedValue(schema: Schema, random: Random, { wrongness, depth = 0 }: { wrongness: number; depth?: number }): unknown {
  if (random() < wrongness) return wrongValue(random);
  const deeper = { wrongness, depth: depth + 1 };
  if (schema.properties) {
    const isWanted = (name: string) => schema.required?.includes(name) || (depth < MAX_DEPTH && random() < 0.4);
    const wanted = Object.entries(schema.properties).filter(([name]) => isWanted(name));
    const entries = wanted.map(([name, child]): [string, unknown] => [name, fuzzedValue(child, random, deeper)]);
    if (random() < wrongness) entries.push(['unknownField', 1]);
    return Object.fromEntries(entries);
  }
  if (schema.items && depth < MAX_DEPTH) {
    const { items } = schema;
    return Array.from({ length: Math.floor(random() * 3) }, () => fuzzedValue(items, random, deeper));
  }
  if (schema.enum) return schema.enum[Math.floor(random() * schema.enum.length)];
  switch (schema.type) {
    case 'string':
      return schema.format === 'date-time' ? '2026-01-01T00:00:00Z' : `text-${Math.floor(random() * 9)}`;
    case 'integer':
    case 'number':
      return Math.floor(random() * 100);
    case 'boolean':
      return random() < 0.5;
    case 'array':
      return [];
    default:
      return schema['x-kubernetes-int-or-string'] ? '10' : {};
  }
}
