/** What there is of an object, and what changed between two, as sets of fields. */
import { deepEqual, isObject } from '../../../base/json.ts';
import type { Schema } from '../schema/schema.ts';
import { addPath, type FieldSet, type FieldSetBuilder, newFieldSet, stepText } from './field-set.ts';
import { fieldSchema, fieldValue, isNamedField, itemStep, shapeOf, valueStep } from './shape.ts';

export type Fields = { readonly set: FieldSet; readonly errors: readonly string[] };

/** The fields that an object states, and what is wrong with how it states them. */
export function fieldsOf(schema: Schema | undefined, value: unknown): Fields {
  const set = newFieldSet();
  const errors: string[] = [];
  stated({ set, errors }, { schema, value, path: [] });
  return { set, errors };
}

type Statement = { readonly schema: Schema | undefined; readonly value: unknown; readonly path: string[] };

function stated(found: { set: FieldSetBuilder; errors: string[] }, { schema, value, path }: Statement): void {
  const shape = shapeOf(schema, value);
  const below = (step: string, child: Statement['schema'], inner: unknown, isOwn: boolean) => {
    path.push(step);
    stated(found, { schema: child, value: inner, path });
    if (isOwn) addPath(found.set, path);
    path.pop();
  };
  switch (shape.as) {
    case 'leaf':
      if (!isOfType(schema, value)) found.errors.push(`${textOf(path)}: expected ${schema?.type}, got ${JSON.stringify(value)}`);
      addPath(found.set, path);
      return;
    case 'map':
      if (schema?.type !== undefined && schema.type !== 'object') {
        found.errors.push(`${textOf(path)}: expected ${schema.type}, got map`);
        return;
      }
      for (const [key, inner] of Object.entries(value as object)) {
        const isNamed = isNamedField(shape.schema, key);
        const child = fieldSchema(shape.schema, key);
        if (!child && !takesAnything(shape.schema)) {
          found.errors.push(`${textOf([...path, `f:${key}`])}: field not declared in schema`);
          continue;
        }
        below(`f:${key}`, child, inner, !isNamed || inner === null || (isObject(inner) && Object.keys(inner).length === 0));
      }
      return;
    case 'set':
    case 'keyed': {
      const seen = new Set<string>();
      for (const item of value as readonly unknown[]) {
        const step = shape.as === 'set' ? valueStep(item) : itemStep(shape, item);
        if (step === undefined || seen.has(step)) {
          found.errors.push(
            `${textOf(path)}: ${step === undefined ? 'an item lacks a key of its list' : `duplicate entries for key ${stepText(step)}`}`,
          );
          continue;
        }
        seen.add(step);
        below(step, shape.as === 'set' ? undefined : shape.items, item, true);
      }
    }
  }
}

const JS_TYPES: Readonly<Record<string, string>> = { integer: 'number', number: 'number', string: 'string', boolean: 'boolean' };

function isOfType({ type }: Schema = {}, value: unknown): boolean {
  if (type === undefined || value === null) return true;
  if (type === 'array') return Array.isArray(value);
  return type === 'object' ? isObject(value) : JS_TYPES[type] === typeof value;
}

function takesAnything(schema: Schema | undefined): boolean {
  return (
    schema === undefined || schema['x-kubernetes-preserve-unknown-fields'] === true || (!schema.properties && !schema.additionalProperties)
  );
}

function textOf(path: readonly string[]): string {
  return path.map(stepText).join('');
}

export type Comparison = { readonly added: FieldSet; readonly modified: FieldSet; readonly removed: FieldSet };
type Builders = { readonly added: FieldSetBuilder; readonly modified: FieldSetBuilder; readonly removed: FieldSetBuilder };

/** Which fields were added, changed and removed. A map or list item that is new or gone is itself a field, besides what is in it. */
export function compareFields(schema: Schema | undefined, before: unknown, after: unknown): Comparison {
  const found = { added: newFieldSet(), modified: newFieldSet(), removed: newFieldSet() };
  compare(found, { schema, before, after, path: [] });
  return found;
}

type Pair = { readonly schema: Schema | undefined; readonly before: unknown; readonly after: unknown; readonly path: string[] };

function compare(found: Builders, { schema, before, after, path }: Pair): void {
  if (before === after) return;
  const shape = shapeOf(schema, after ?? before);
  if (before !== undefined && after !== undefined && shapeOf(schema, before).as !== shape.as) {
    compare(found, { schema, before, after: undefined, path });
    compare(found, { schema, before: undefined, after, path });
    return;
  }
  const below = (step: string, pair: Omit<Pair, 'path'>) => {
    path.push(step);
    compare(found, { ...pair, path });
    path.pop();
  };
  switch (shape.as) {
    case 'leaf':
      if (before !== undefined && after !== undefined && !deepEqual(before, after)) addPath(found.modified, path);
      break;
    case 'map': {
      const [old, now] = [fieldsIn(before), fieldsIn(after)];
      for (const key of new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})])) {
        const valueIn = (fields: typeof old) => fieldValue(shape.schema, fields, key);
        below(`f:${key}`, { schema: fieldSchema(shape.schema, key), before: valueIn(old), after: valueIn(now) });
      }
      break;
    }
    case 'set':
    case 'keyed': {
      const stepOf = (item: unknown) => (shape.as === 'set' ? valueStep(item) : itemStep(shape, item));
      const [old, now] = [itemsByStep(before, stepOf), itemsByStep(after, stepOf)];
      const items = shape.as === 'set' ? undefined : shape.items;
      for (const step of new Set([...old.keys(), ...now.keys()])) {
        below(step, { schema: items, before: old.get(step), after: now.get(step) });
      }
    }
  }
  if (path.length === 0) return;
  if (before === undefined) addPath(found.added, path);
  else if (after === undefined) addPath(found.removed, path);
}

function fieldsIn(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isObject(value) ? value : undefined;
}

/** The first item of each step: lists that are not ours to judge may have a key twice. */
export function itemsByStep(list: unknown, stepOf: (item: unknown) => string | undefined): Map<string, unknown> {
  const items = new Map<string, unknown>();
  for (const item of Array.isArray(list) ? list : []) {
    const step = stepOf(item);
    if (step !== undefined && !items.has(step)) items.set(step, item);
  }
  return items;
}
