/**
 * Who owns what after a write.
 *
 *   update   takes over every field that it adds or changes; a field that is gone is nobody's
 *   apply    owns exactly what it states; what it stated before and nobody else owns goes;
 *            a field of somebody else with another value is a conflict, unless it is forced
 */
import { deepEqual } from '../../../base/json.ts';
import type { Schema } from '../schema/schema.ts';
import type { AnyObject } from '../types/resource-type.ts';
import { difference, differenceBelow, type FieldSet, fieldSetOfPaths, intersection, isEmptySet, NO_FIELDS, union } from './field-set.ts';
import { type Owner, type Owners, ownerId, withFewUpdaters } from './managed-fields.ts';
import { mergeApplied, withNamedFields, withoutFields } from './merge-fields.ts';
import { type Comparison, compareFields } from './walk-fields.ts';

/** Nobody owns what the server alone writes. */
const SERVER_FIELDS = fieldSetOfPaths([
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...['name', 'namespace', 'creationTimestamp', 'selfLink', 'uid', 'generation', 'managedFields', 'resourceVersion'].map((key) => [
    'f:metadata',
    `f:${key}`,
  ]),
]);

export type Writer = Omit<Owner, 'set' | 'time'> & { readonly time: string };

export type Update = {
  readonly schema: Schema | undefined;
  readonly before: AnyObject | object;
  readonly after: AnyObject | object;
  readonly owners: Owners;
  readonly writer: Writer;
};

/** The owners after an update. */
export function ownersAfterUpdate({ schema, before, after, owners, writer }: Update): Owners {
  const changes = compareFields(schema, before, after);
  const taken = difference(union(changes.modified, changes.added), SERVER_FIELDS);
  const left = mapSets(owners, (set) => difference(difference(set, taken), changes.removed));
  if (isEmptySet(taken)) return left;
  const id = ownerId(writer);
  return withFewUpdaters(new Map(left).set(id, { ...writer, set: union(left.get(id)?.set ?? NO_FIELDS, taken) }));
}

export type Apply = {
  readonly schema: Schema | undefined;
  readonly live: AnyObject | object;
  readonly applied: object;
  /** The fields that the applied object states. */
  readonly stated: FieldSet;
  readonly owners: Owners;
  readonly writer: Writer;
  /** Fields that this request cannot change, such as the status of a main resource. */
  readonly unchangeable: FieldSet;
};
export type Conflict = { readonly owner: Owner; readonly fields: FieldSet };
export type Applied = { readonly object: object; readonly owners: Owners; readonly conflicts: readonly Conflict[] };

/** The object and its owners after an apply, as if it were forced, and whom it would be forced upon. */
export function applyFields({ schema, live, applied, stated, owners, writer, unchangeable }: Apply): Applied {
  const id = ownerId(writer);
  const last = owners.get(id)?.set ?? NO_FIELDS;
  const own = differenceBelow(stated, unchangeable);
  const claimed = new Map(owners).set(id, { ...writer, set: own });
  const merged = mergeApplied(schema, live, applied) as object; // both are objects
  const object = withoutAbandoned(schema, { merged, last, claimed });
  const changes = compareFields(schema, live, object);
  const conflicts = conflictsIn(claimed, id, changes);
  const settled = [...claimed].map(([each, owner]): [string, Owner] => {
    if (each === id) return [each, { ...owner, set: difference(owner.set, SERVER_FIELDS) }];
    const lost = conflicts.find((conflict) => conflict.owner === owner)?.fields ?? NO_FIELDS;
    return [each, { ...owner, set: difference(difference(owner.set, lost), changes.removed) }];
  });
  return { object, owners: new Map(settled.filter(([, { set }]) => !isEmptySet(set))), conflicts };
}

function conflictsIn(owners: Owners, own: string, { modified, added }: Comparison): Conflict[] {
  const changed = union(modified, added);
  return [...owners].flatMap(([id, owner]) => {
    const fields = id === own ? NO_FIELDS : intersection(owner.set, changed);
    return isEmptySet(fields) ? [] : [{ owner, fields }];
  });
}

/** What this applier stated last time and no longer does goes, unless somebody else owns it. */
function withoutAbandoned(
  schema: Schema | undefined,
  { merged, last, claimed }: { readonly merged: object; readonly last: FieldSet; readonly claimed: Owners },
): object {
  if (isEmptySet(last)) return merged;
  const owned = [...claimed.values()].reduce<FieldSet>((all, { set }) => union(all, set), NO_FIELDS);
  const abandoned = difference(withNamedFields(schema, last, merged), withNamedFields(schema, owned, merged));
  if (isEmptySet(abandoned)) return merged;
  return (withoutFields(schema, merged, { set: abandoned, kept: owned }) ?? {}) as object; // what is left of an object is one
}

function mapSets(owners: Owners, change: (set: FieldSet) => FieldSet): Owners {
  const changed = [...owners].map(([id, owner]): [string, Owner] => [id, { ...owner, set: change(owner.set) }]);
  return new Map(changed.filter(([, { set }]) => !isEmptySet(set)));
}

/** Whether the same owners own the same, whenever they came to it. */
export function sameOwnership(a: unknown, b: unknown): boolean {
  const timeless = (entries: unknown) => (Array.isArray(entries) ? entries.map((entry) => ({ ...entry, time: undefined })) : entries);
  return a === b || deepEqual(timeless(a), timeless(b));
}
