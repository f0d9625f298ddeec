/** Server-side apply of one object to what is stored of it: what it asks for, who stands against it, and what becomes of both. */
import { apiVersionOf } from '../../../api/resource.ts';
import { ApiError } from '../../../base/errors.ts';
import { isObject, type JsonObject } from '../../../base/json.ts';
import { asResource } from '../schema/resource-root.ts';
import type { Schema } from '../schema/schema.ts';
import type { AnyObject, ResourceType } from '../types/resource-type.ts';
import { difference, type FieldSet, fieldSetOfPaths, intersection, isEmptySet, NO_FIELDS, pathTexts } from './field-set.ts';
import { entriesOf, NOBODY, type Owner, type Owners, ownersIn } from './managed-fields.ts';
import { applyFields, type Conflict, ownersAfterUpdate, type Writer } from './own-fields.ts';
import { compareFields, fieldsOf } from './walk-fields.ts';

export type ApplyRequest = {
  readonly type: ResourceType;
  /** The stored object; undefined when there is none yet. */
  readonly live: AnyObject | undefined;
  readonly applied: JsonObject;
  readonly writer: Writer;
  readonly isForced: boolean;
};

/** Who owned the fields of an object before anybody applied it, when nobody was recorded. */
const BEFORE_FIRST_APPLY = 'before-first-apply';
/** More appliers of one object than anybody can keep apart. */
const MAX_OWNERS = 256;
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const MAX_LAST_APPLIED = 256 * 1024;

/** The object that the request makes, with its owners; throws Conflict when it may not. */
export function applyTo(request: ApplyRequest): AnyObject {
  const { type, live, applied, writer, isForced } = request;
  const schema = type.schema && asResource(type.schema);
  const { set: stated, errors } = fieldsOf(schema, applied);
  if (errors.length > 0) throw untyped(request, errors);
  const base = live ?? { apiVersion: apiVersionOf(type), kind: type.kind };
  const owners = knownOwners({ type, live, time: writer.time });
  const outcome = applyFields({
    schema,
    live: base,
    applied,
    stated,
    owners,
    writer,
    unchangeable: unchangeableIn(type, writer.subresource),
  });
  if (!isForced) assertNoConflict(live ? withoutOwnPast(schema, { live, writer, conflicts: outcome.conflicts }) : []);
  if (outcome.owners.size > MAX_OWNERS)
    throw new ApiError('BadRequest', `Cannot apply: more than ${MAX_OWNERS} managers own fields of this object`);
  const object = outcome.object as AnyObject; // the merged one has all that was there
  const managedFields = entriesOf(outcome.owners);
  const result = { ...object, metadata: { ...object.metadata, managedFields } };
  return writer.manager === 'kubectl' ? withLastApplied(result, applied) : result;
}

/** The recorded owners; the fields of an object that has none belong to whoever was before the first apply. */
function knownOwners({
  type,
  live,
  time,
}: {
  readonly type: ResourceType;
  readonly live: AnyObject | undefined;
  readonly time: string;
}): Owners {
  if (!live) return NOBODY;
  const known = ownersIn(live.metadata.managedFields ?? []) ?? NOBODY;
  if (known.size > 0) return known;
  const writer: Writer = { manager: BEFORE_FIRST_APPLY, operation: 'Update', apiVersion: apiVersionOf(type), subresource: '', time };
  const schema = type.schema && asResource(type.schema);
  return ownersAfterUpdate({ schema, before: {}, after: live, owners: NOBODY, writer });
}

/** A main resource cannot change its status where that is a subresource, and the status nothing else. */
function unchangeableIn(type: ResourceType, subresource: string): FieldSet {
  if (subresource === 'status') return fieldSetOfPaths([['f:spec']]);
  return type.subresources.includes('status') ? fieldSetOfPaths([['f:status']]) : NO_FIELDS;
}

type Past = { readonly live: AnyObject; readonly writer: Writer; readonly conflicts: readonly Conflict[] };

/** kubectl takes over what kubectl applied on the client, as long as it still has that value. */
function withoutOwnPast(schema: Schema | undefined, { live, writer, conflicts }: Past): readonly Conflict[] {
  if (writer.manager !== 'kubectl' || conflicts.length === 0) return conflicts;
  const own = lastAppliedFields(schema, live);
  return conflicts.map(({ owner, fields }) => ({ owner, fields: difference(fields, own) })).filter(({ fields }) => !isEmptySet(fields));
}

function lastAppliedFields(schema: Schema | undefined, live: AnyObject): FieldSet {
  let last: unknown;
  try {
    last = JSON.parse(live.metadata.annotations?.[LAST_APPLIED] ?? '');
  } catch {
    return NO_FIELDS;
  }
  if (!isObject(last)) return NO_FIELDS;
  const { set } = fieldsOf(schema, last);
  const { modified } = compareFields(schema, live, last);
  return intersection(difference(set, modified), set);
}

/** The annotation of client-side apply stays true, where there is one. */
function withLastApplied(object: AnyObject, applied: JsonObject): AnyObject {
  const { annotations } = object.metadata;
  if (annotations?.[LAST_APPLIED] === undefined) return object;
  const text = `${JSON.stringify(sorted(applied))}\n`;
  const { [LAST_APPLIED]: _, ...others } = annotations;
  const next = text.length > MAX_LAST_APPLIED ? others : { ...annotations, [LAST_APPLIED]: text };
  return { ...object, metadata: { ...object.metadata, annotations: next } };
}

/** With its keys in order, as Go writes a map. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  );
}

function assertNoConflict(conflicts: readonly Conflict[]): void {
  const found = conflicts
    .flatMap(({ owner, fields }) => pathTexts(fields).map((field) => ({ by: ownerText(owner), field })))
    .sort((a, b) => (a.by === b.by ? 0 : a.by < b.by ? -1 : 1));
  const [first] = found;
  if (!first) return;
  const causes = found.map(({ by, field }) => ({ reason: 'FieldManagerConflict', message: `conflict with ${by}`, field }));
  const message =
    found.length === 1 ? `1 conflict: conflict with ${first.by}: ${first.field}` : `${found.length} conflicts: ${listed(found)}`;
  throw new ApiError('Conflict', `Apply failed with ${message}`, { details: { causes } });
}

function listed(found: readonly { readonly by: string; readonly field: string }[]): string {
  const lines = found.flatMap(({ by, field }, index) => [...(by === found[index - 1]?.by ? [] : [`conflicts with ${by}:`]), `- ${field}`]);
  return lines.join('\n');
}

function ownerText({ manager, subresource, operation, apiVersion }: Owner): string {
  const name = `${JSON.stringify(manager)}${subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`}`;
  return operation === 'Update' ? `${name} using ${apiVersion}` : name;
}

/** A real server answers 500 here; it is the caller's fault, and whoever retries on 5xx would do so for ever. */
function untyped({ type, applied }: ApplyRequest, errors: readonly string[]): ApiError {
  const metadata = isObject(applied['metadata']) ? applied['metadata'] : {};
  const subject = `${metadata['namespace'] ?? ''}/${metadata['name'] ?? ''}; ${type.group}/${type.version}, Kind=${type.kind}`;
  const text = errors.length === 1 ? errors[0] : `errors:\n${errors.map((error) => `  ${error}`).join('\n')}`;
  return new ApiError('BadRequest', `failed to create typed patch object (${subject}): ${text}`);
}
