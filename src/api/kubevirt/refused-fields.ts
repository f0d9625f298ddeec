/**
 * Published fields that are not honoured here, refused by name: dropping one in silence would give a machine that is not what was asked for.
 * The table follows from the schemas and the published types (`npm run generate`); docs/compatibility.md says for each what is planned.
 */
import { forbiddenCause } from '../../base/causes.ts';
import type { StatusCause } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import type { KindRecord } from '../kind.ts';
import { REFUSED_FIELDS } from './generated/refused-fields-table.ts';
import { KINDS } from './kinds-table.ts';
import { whyRefused } from './why-refused.ts';

/**
 * A field that is refused, or fields inside it that are. Lists are transparent: the rule holds for every item.
 *   set     refused unless it says nothing: null, "", [] and false
 *   struct  as set, and {} says nothing either
 *   any     refused even when false, because false is not what happens here
 */
export type RefusedFields = { readonly [field: string]: 'set' | 'struct' | 'any' | RefusedFields };

type Refusals = { readonly kind: KindRecord; readonly fields: RefusedFields };

const BY_KIND: ReadonlyMap<string, Refusals> = new Map(KINDS.map((kind) => [kind.kind, { kind, fields: REFUSED_FIELDS[kind.kind] }]));
/** Whose table it is: where the spec of one kind stands in that of another, the same table does. */
const OWNERS: ReadonlyMap<RefusedFields, KindRecord> = new Map(KINDS.map((kind) => [REFUSED_FIELDS[kind.kind], kind]));

/** A refused field by its path in the spec of the object, and why. */
type Refusal = { readonly path: string; readonly why: string };
/** A place in an object: its path, and the kind in whose spec that is, which begins at `start` of the path. */
type Place = { readonly path: string; readonly kind: KindRecord; readonly start: number };

/** A cause for every field of the object that KubeVirt has and we do not honour. Other unknown fields are the API server's to judge. */
export function refusedFields(kind: string, object: JsonObject): StatusCause[] {
  const refusals = BY_KIND.get(kind);
  const { spec } = object;
  if (!refusals || !isObject(spec)) return [];
  return refusalsIn(spec, refusals.fields, { path: '', kind: refusals.kind, start: 0 }).map(({ path, why }) =>
    forbiddenCause(`spec.${path}`, `this field of KubeVirt is not supported here: ${why}`),
  );
}

/** The spec of an instance without what is refused of it, and without nulls: what is kept as written is of any type, so no rule can read it. */
export function honouredVmiSpec(spec: JsonObject): JsonObject {
  return honouredPart(spec, REFUSED_FIELDS.VirtualMachineInstance) as JsonObject; // an object stays one
}

function honouredPart(value: unknown, rules: RefusedFields): unknown {
  if (Array.isArray(value)) return value.map((item) => honouredPart(item, rules));
  if (!isObject(value)) return value;
  const honoured: JsonObject = {};
  for (const [name, field] of Object.entries(value)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : {};
    if (typeof rule === 'object' && field !== null && name !== '__proto__') honoured[name] = honouredPart(field, rule);
  }
  return honoured;
}

function refusalsIn(object: JsonObject, rules: RefusedFields, { path: prefix, ...outer }: Place): Refusal[] {
  const owner = OWNERS.get(rules);
  const inside = owner ? { kind: owner, start: prefix.length } : outer;
  return Object.entries(rules).flatMap(([name, rule]) => {
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    const path = `${prefix}${name}`;
    if (typeof rule === 'string') return saysSomething(value, rule) ? [{ path, why: reasonOf({ ...inside, path }) }] : [];
    if (Array.isArray(value))
      return value.flatMap((item, at) => (isObject(item) ? refusalsIn(item, rule, { ...inside, path: `${path}[${at}].` }) : []));
    return isObject(value) ? refusalsIn(value, rule, { ...inside, path: `${path}.` }) : [];
  });
}

function reasonOf({ kind, path, start }: Place): string {
  return whyRefused(kind, path.slice(start).replace(/\[\d+\]/g, '[]')) ?? 'nothing acts on it';
}

function saysSomething(value: unknown, rule: 'set' | 'struct' | 'any'): boolean {
  if (value === undefined || value === null || value === '') return false;
  if (value === false) return rule === 'any';
  if (Array.isArray(value)) return value.length > 0;
  return !(rule === 'struct' && isObject(value) && Object.keys(value).length === 0);
}
