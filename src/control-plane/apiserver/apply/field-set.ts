/**
 * Sets of fields of an object, as FieldsV1 writes them: a tree whose branches are steps of a path.
 *   f:name             a field or the key of a map
 *   k:{"name":"web"}   the item of a list that has these keys
 *   v:"value"          the item of a list that is this value
 *   i:3                the item at this place
 * A node that is a member is a field of the set; `.` says so of one that has others below it. Sets never change once they are made.
 */
import { isObject, type JsonObject } from '../../../base/json.ts';

export type FieldSet = { readonly isMember: boolean; readonly children: ReadonlyMap<string, FieldSet> };

/** A set under construction. */
export type FieldSetBuilder = { isMember: boolean; readonly children: Map<string, FieldSetBuilder> };

const STEP = /^(f:|k:\{|v:|i:\d)/;
const RANK: Readonly<Record<string, number>> = { f: 0, k: 1, v: 2, i: 3 };

export const NO_FIELDS: FieldSet = { isMember: false, children: new Map() };

export function newFieldSet(): FieldSetBuilder {
  return { isMember: false, children: new Map() };
}

/** Puts a path into a set that is being made. */
export function addPath(set: FieldSetBuilder, path: readonly string[]): void {
  let node = set;
  for (const step of path) {
    let child = node.children.get(step);
    if (!child) {
      child = newFieldSet();
      node.children.set(step, child);
    }
    node = child;
  }
  node.isMember = true;
}

/** The set of paths; each is a list of steps such as `f:spec`. */
export function fieldSetOfPaths(paths: readonly (readonly string[])[]): FieldSet {
  const set = newFieldSet();
  for (const path of paths) addPath(set, path);
  return set;
}

export function isEmptySet({ isMember, children }: FieldSet): boolean {
  return !isMember && children.size === 0;
}

/** The fields of either. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmptySet(a)) return b;
  if (isEmptySet(b)) return a;
  const children = new Map(a.children);
  for (const [step, child] of b.children) {
    const own = children.get(step);
    children.set(step, own ? union(own, child) : child);
  }
  return { isMember: a.isMember || b.isMember, children };
}

/** The fields of `a` that are not in `b`; what is below a field of `b` stays. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmptySet(b)) return a;
  return prunedNode(a.isMember && !b.isMember, a, (step, child) => {
    const other = b.children.get(step);
    return other ? difference(child, other) : child;
  });
}

/** The fields of `a` that are neither in `b` nor below a field of `b`. */
export function differenceBelow(a: FieldSet, b: FieldSet): FieldSet {
  if (b.isMember) return NO_FIELDS;
  return prunedNode(a.isMember, a, (step, child) => {
    const other = b.children.get(step);
    return other ? differenceBelow(child, other) : child;
  });
}

/** The fields of both. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return prunedNode(a.isMember && b.isMember, a, (step, child) => {
    const other = b.children.get(step);
    return other ? intersection(child, other) : NO_FIELDS;
  });
}

export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a.isMember !== b.isMember || a.children.size !== b.children.size) return false;
  for (const [step, child] of a.children) {
    const other = b.children.get(step);
    if (!other || !equalSets(child, other)) return false;
  }
  return true;
}

function prunedNode(isMember: boolean, { children }: FieldSet, childOf: (step: string, child: FieldSet) => FieldSet): FieldSet {
  const kept = new Map<string, FieldSet>();
  for (const [step, child] of children) {
    const next = childOf(step, child);
    if (!isEmptySet(next)) kept.set(step, next);
  }
  return { isMember, children: kept };
}

/** Every path of the set, as messages write it: `.spec.containers[name="web"].image`. */
export function pathTexts(set: FieldSet, prefix = ''): string[] {
  const own = set.isMember && prefix !== '' ? [prefix] : [];
  return [...own, ...sortedChildren(set).flatMap(([step, child]) => pathTexts(child, prefix + stepText(step)))];
}

/** A step as messages write it. */
export function stepText(step: string): string {
  const rest = step.slice(2);
  switch (step[0]) {
    case 'k': {
      const keys = Object.entries(JSON.parse(rest) as JsonObject); // fromFieldsV1 and our own walkers only let JSON objects through
      return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(',')}]`;
    }
    case 'v':
      return `[=${rest}]`;
    case 'i':
      return `[${rest}]`;
  }
  return `.${rest}`;
}

/** The set as FieldsV1. */
export function toFieldsV1(set: FieldSet): JsonObject {
  const members = sortedChildren(set).map(([step, child]): [string, JsonObject] => {
    const below = toFieldsV1(child);
    return [step, child.isMember && child.children.size > 0 ? { '.': {}, ...below } : below];
  });
  return Object.fromEntries(members);
}

/** The set that FieldsV1 says; undefined when it is not FieldsV1. */
export function fromFieldsV1(fields: unknown): FieldSet | undefined {
  if (!isObject(fields)) return undefined;
  return nodeOf(fields, true);
}

function nodeOf(fields: JsonObject, isRoot: boolean): FieldSet | undefined {
  const children = new Map<string, FieldSet>();
  const steps = Object.keys(fields);
  for (const step of steps) {
    if (step === '.') continue;
    const below = fields[step];
    const child = isStep(step) && isObject(below) ? nodeOf(below, false) : undefined;
    if (!child) return undefined;
    children.set(step, child);
  }
  return { isMember: !isRoot && (steps.length === 0 || '.' in fields), children };
}

function isStep(step: string): boolean {
  if (!STEP.test(step)) return false;
  if (step.startsWith('f:') || step.startsWith('i:')) return true;
  try {
    const value: unknown = JSON.parse(step.slice(2));
    return step.startsWith('v:') || isObject(value);
  } catch {
    return false;
  }
}

function sortedChildren({ children }: FieldSet): [string, FieldSet][] {
  const rank = (step: string) => RANK[step[0] ?? ''] ?? 0;
  return [...children].sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1));
}
