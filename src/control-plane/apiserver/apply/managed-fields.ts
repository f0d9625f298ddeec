/** metadata.managedFields: who owns which fields, by what kind of request, in which version, through which subresource. */
import type { ManagedFieldsEntry } from '../../../api/meta.ts';
import { isObject } from '../../../base/json.ts';
import { type FieldSet, fromFieldsV1, isEmptySet, toFieldsV1, union } from './field-set.ts';

export type Owner = {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string | undefined;
  readonly set: FieldSet;
};

/** By ownerId. */
export type Owners = ReadonlyMap<string, Owner>;

/** So many updaters are told apart; of more, the oldest become one. */
const MAX_UPDATERS = 10;
const OLD_UPDATERS = 'ancient-changes';

export const NOBODY: Owners = new Map();

/** What tells owners apart. An applier is the same one whatever version it uses. */
export function ownerId({ manager, operation, apiVersion, subresource }: Omit<Owner, 'time' | 'set'>): string {
  return JSON.stringify([manager, operation, operation === 'Apply' ? '' : apiVersion, subresource]);
}

/** The owners that a list of entries names; undefined when it is no such list. */
export function ownersIn(entries: unknown): Owners | undefined {
  if (!Array.isArray(entries)) return undefined;
  const owners = new Map<string, Owner>();
  for (const entry of entries) {
    const owner = ownerIn(entry);
    if (!owner) return undefined;
    owners.set(ownerId(owner), owner);
  }
  return owners;
}

function ownerIn(entry: unknown): Owner | undefined {
  if (!isObject(entry)) return undefined;
  const { manager = '', operation, apiVersion = '', subresource = '', time, fieldsType, fieldsV1 } = entry;
  if (operation !== 'Apply' && operation !== 'Update') return undefined;
  if (typeof manager !== 'string' || typeof apiVersion !== 'string' || typeof subresource !== 'string' || fieldsType !== 'FieldsV1')
    return undefined;
  const set = fromFieldsV1(fieldsV1 ?? {});
  return set && { manager, operation, apiVersion, subresource, time: typeof time === 'string' ? time : undefined, set };
}

/** As they are stored: appliers first, then by time. Undefined for nobody. */
export function entriesOf(owners: Owners): readonly ManagedFieldsEntry[] | undefined {
  const entries = [...owners.values()]
    .filter(({ set }) => !isEmptySet(set))
    .sort(byAge)
    .map(entryOf);
  return entries.length > 0 ? entries : undefined;
}

function entryOf({ manager, operation, apiVersion, subresource, time, set }: Owner): ManagedFieldsEntry {
  const where = { apiVersion, ...(time !== undefined && { time }), fieldsType: 'FieldsV1' as const, fieldsV1: toFieldsV1(set) };
  return { manager, operation, ...where, ...(subresource !== '' && { subresource }) };
}

function byAge(a: Owner, b: Owner): number {
  const key = ({ operation, time = '', manager, apiVersion, subresource }: Owner) => [operation, time, manager, apiVersion, subresource];
  const [left, right] = [key(a), key(b)];
  const at = left.findIndex((part, index) => part !== right[index]);
  return at < 0 ? 0 : (left[at] ?? '') < (right[at] ?? '') ? -1 : 1;
}

/** Not more than ten updaters: the oldest of a version are put together. */
export function withFewUpdaters(owners: Owners): Owners {
  const updaters = [...owners].filter(([, { operation }]) => operation === 'Update').sort(([, a], [, b]) => byAge(a, b));
  let excess = updaters.length - MAX_UPDATERS;
  if (excess <= 0) return owners;
  const result = new Map(owners);
  const oldest = new Map<string, Owner>();
  for (const [id, owner] of updaters) {
    if (excess <= 0) break;
    const { apiVersion, set, time } = owner;
    const before = oldest.get(apiVersion);
    if (!before) {
      oldest.set(apiVersion, owner);
      continue;
    }
    const together: Owner = { manager: OLD_UPDATERS, operation: 'Update', apiVersion, subresource: '', time, set: union(before.set, set) };
    result.delete(ownerId(before));
    result.delete(id);
    result.set(ownerId(together), together);
    oldest.set(apiVersion, together);
    excess -= 1;
  }
  return result;
}
