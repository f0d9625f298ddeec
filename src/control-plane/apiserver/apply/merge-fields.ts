/** An applied object laid over the live one, and fields taken out of an object again, both by what the schema says of maps and lists. */
import { isObject, type JsonObject } from '../../../base/json.ts';
import type { Schema } from '../schema/schema.ts';
import { type FieldSet, isEmptySet } from './field-set.ts';
import { fieldSchema, isNamedField, itemStep, type Shape, shapeOf, valueStep } from './shape.ts';
import { itemsByStep } from './walk-fields.ts';

/** The live value with everything that the applied one states. */
export function mergeApplied(schema: Schema | undefined, live: unknown, applied: unknown): unknown {
  if (applied === undefined) return live;
  const shape = shapeOf(schema, applied);
  if (live === undefined || shape.as === 'leaf' || shapeOf(schema, live).as !== shape.as) return applied;
  if (shape.as === 'map') return mergeMaps(shape.schema, live as JsonObject, applied as JsonObject); // both have the shape of a map
  return mergeLists(shape, live as readonly unknown[], applied as readonly unknown[]); // and here that of a list
}

function mergeMaps(schema: Schema | undefined, live: JsonObject, applied: JsonObject): JsonObject {
  const result = { ...live };
  for (const [key, value] of Object.entries(applied)) {
    if (key !== '__proto__') result[key] = mergeApplied(fieldSchema(schema, key), live[key], value);
  }
  return result;
}

/** In the order of the applied list; items that only the live one has stand before the next item that both have, as they did. */
function mergeLists(
  shape: Extract<Shape, { as: 'set' | 'keyed' }>,
  live: readonly unknown[],
  applied: readonly unknown[],
): readonly unknown[] {
  const stepOf = (item: unknown) => (shape.as === 'set' ? valueStep(item) : itemStep(shape, item));
  const items = shape.as === 'set' ? undefined : shape.items;
  const appliedItems = itemsByStep(applied, stepOf);
  const liveSteps = live.map(stepOf);
  const places = new Map<string, number>();
  liveSteps.forEach((step, index) => {
    if (step !== undefined && !places.has(step)) places.set(step, index);
  });
  const merged: unknown[] = [];
  let at = 0;
  const takeLiveUntil = (end: number) => {
    for (; at < end; at += 1) {
      const step = liveSteps[at];
      if (step === undefined || !appliedItems.has(step)) merged.push(live[at]);
    }
  };
  const steps = [...appliedItems.keys()];
  const nextShared = nextPlaces(steps, places);
  steps.forEach((step, index) => {
    const shared = nextShared[index] ?? live.length;
    takeLiveUntil(shared >= at ? shared : live.length);
    const place = places.get(step);
    merged.push(mergeApplied(items, place === undefined ? undefined : live[place], appliedItems.get(step)));
    if (place !== undefined && place === at) at += 1;
  });
  takeLiveUntil(live.length);
  return merged;
}

/** For each step the live place of the first item from there on that is in both lists. */
function nextPlaces(steps: readonly string[], places: ReadonlyMap<string, number>): (number | undefined)[] {
  const next: (number | undefined)[] = new Array(steps.length);
  let known: number | undefined;
  for (let index = steps.length - 1; index >= 0; index -= 1) {
    known = places.get(steps[index] ?? '') ?? known;
    next[index] = known;
  }
  return next;
}

/** The value without the fields of a set; undefined when nothing is left of it that is in `kept`. */
export function withoutFields(schema: Schema | undefined, value: unknown, { set, kept }: Removal): unknown {
  const shape = shapeOf(schema, value);
  switch (shape.as) {
    case 'leaf':
      return value;
    case 'map':
      return withoutEntries(shape.schema, value as JsonObject, { set, kept });
    case 'set':
    case 'keyed': {
      const items = shape.as === 'set' ? undefined : shape.items;
      const left = (value as readonly unknown[]).flatMap((item) => {
        const step = (shape.as === 'set' ? valueStep(item) : itemStep(shape, item)) ?? '';
        const below = set.children.get(step);
        if (below?.isMember) return [];
        return [below ? withoutFields(items, item, { set: below, kept: kept?.children.get(step) }) : item];
      });
      return left.length > 0 || kept?.isMember ? left : undefined;
    }
  }
}

type Removal = { readonly set: FieldSet; readonly kept: FieldSet | undefined };

function withoutEntries(schema: Schema | undefined, value: JsonObject, { set, kept }: Removal): JsonObject | undefined {
  const entries: JsonObject = {};
  for (const [key, inner] of Object.entries(value)) {
    const below = set.children.get(`f:${key}`);
    if (below?.isMember) continue;
    const removal = below && !isEmptySet(below) && { set: below, kept: kept?.children.get(`f:${key}`) };
    const left = removal ? withoutFields(fieldSchema(schema, key), inner, removal) : inner;
    if (left !== undefined) entries[key] = left;
  }
  return Object.keys(entries).length > 0 || kept?.isMember ? entries : undefined;
}

/** The set with every field of a struct on the way to a member as a member, too: whoever owns a field keeps what it is in. */
export function withNamedFields(schema: Schema | undefined, set: FieldSet, value: unknown): FieldSet {
  const shape = shapeOf(schema, value);
  const children = new Map<string, FieldSet>();
  const items = shape.as === 'set' || shape.as === 'keyed' ? itemsOf(shape, value) : undefined;
  for (const [step, child] of set.children) {
    const key = step.slice(2);
    const isField = shape.as === 'map' && step.startsWith('f:');
    const inner = isField ? (isObject(value) ? value[key] : undefined) : items?.get(step);
    const innerSchema = isField ? fieldSchema(shape.schema, key) : shape.as === 'keyed' ? shape.items : undefined;
    const below = withNamedFields(innerSchema, child, inner);
    const isNamed = isField && child.children.size > 0 && isNamedField(shape.schema, key);
    children.set(step, isNamed ? { ...below, isMember: true } : below);
  }
  return { isMember: set.isMember, children };
}

function itemsOf(shape: Extract<Shape, { as: 'set' | 'keyed' }>, value: unknown): Map<string, unknown> {
  return itemsByStep(value, (item) => (shape.as === 'set' ? valueStep(item) : itemStep(shape, item)));
}
