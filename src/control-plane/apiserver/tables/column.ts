/** A column of a printed table, and the few ways cells are written. */
import { humanDuration } from '../../../base/duration.ts';
import { isObject, type JsonObject } from '../../../base/json.ts';

export type Cell = string | number | boolean | null;
export type ColumnType = 'string' | 'integer' | 'number' | 'boolean' | 'date';

export type Column = {
  readonly name: string;
  readonly type: ColumnType;
  readonly format?: string;
  readonly description?: string;
  /** 0 is always shown, more only with `-o wide`. */
  readonly priority: number;
  readonly cell: (object: JsonObject, nowMs: number) => Cell;
};

/** A column of text that is always shown, or only with `-o wide`. */
export function text(name: string, cell: Column['cell'], priority = 0): Column {
  return { name, type: 'string', priority, cell };
}

/** A column of whole numbers. */
export function count(name: string, cell: Column['cell'], priority = 0): Column {
  return { name, type: 'integer', priority, cell };
}

/** The name; kubectl puts the kind before it in `get all`. */
export const NAME: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  priority: 0,
  cell: (object) => textAt(object, 'metadata', 'name'),
};

/** Time since the object was made. */
export const AGE: Column = text('Age', (object, nowMs) => ageOf(at(object, 'metadata', 'creationTimestamp'), nowMs));

/** The value at a path, undefined when something on the way is missing. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((item, key) => {
    if (typeof key === 'number') return Array.isArray(item) ? item[key] : undefined;
    return isObject(item) && Object.hasOwn(item, key) ? item[key] : undefined;
  }, value);
}

/** The text at a path, or nothing. */
export function textAt(value: unknown, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : typeof found === 'number' || typeof found === 'boolean' ? String(found) : '';
}

/** The number at a path, or 0. */
export function numberAt(value: unknown, ...path: readonly (string | number)[]): number {
  const found = at(value, ...path);
  return typeof found === 'number' ? found : 0;
}

/** The objects of the list at a path. */
export function listAt(value: unknown, ...path: readonly (string | number)[]): JsonObject[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found.filter(isObject) : [];
}

/** How many entries a list or map at a path has. */
export function sizeAt(value: unknown, ...path: readonly (string | number)[]): number {
  const found = at(value, ...path);
  return Array.isArray(found) ? found.length : isObject(found) ? Object.keys(found).length : 0;
}

/** How long ago a time stamp was, the way people say it. */
export function ageOf(timestamp: unknown, nowMs: number): string {
  const ms = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(ms) ? '<unknown>' : humanDuration(nowMs - ms);
}

/** A list joined by commas; `<none>` when it is empty. */
export function joined(values: readonly string[]): string {
  return values.length === 0 ? '<none>' : values.join(',');
}

/** `a=b,c=d` for a map at a path; `<none>` when it is empty. */
export function pairsAt(value: unknown, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path);
  return joined(isObject(found) ? Object.entries(found).map(([key, item]) => `${key}=${String(item)}`) : []);
}

/** The text, or a word for nothing. */
export function orNone(value: string, nothing = '<none>'): string {
  return value === '' ? nothing : value;
}
