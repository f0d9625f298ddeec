/**
 * What a write that is no apply leaves in managedFields.
 *
 *   created by a request that names its fieldManager   recorded from the start
 *   created without                                    recorded from the first apply on
 *   managedFields sent empty                           forgotten, until the next apply
 *   a binding                                          records nothing
 */
import type { ManagedFieldsEntry } from '../../../api/meta.ts';
import { apiVersionOf } from '../../../api/resource.ts';
import { isObject } from '../../../base/json.ts';
import { timestamp } from '../../../base/timestamp.ts';
import { fieldManagerOf } from '../request/query.ts';
import { asResource } from '../schema/resource-root.ts';
import type { Call } from '../server-parts.ts';
import type { AnyObject } from '../types/resource-type.ts';
import { entriesOf, NOBODY, type Owners, ownersIn } from './managed-fields.ts';
import { ownersAfterUpdate, type Writer } from './own-fields.ts';

type Entries = readonly ManagedFieldsEntry[] | undefined;

const MAX_NAME = 128;

/** Whoever makes this request, as an owner of fields. */
export function writerOf(call: Call, operation: Writer['operation']): Writer {
  const { type, path, query, request, parts } = call;
  const manager = fieldManagerOf(query) ?? userAgentName(request.headers.get('user-agent') ?? 'unknown');
  return { manager, operation, apiVersion: apiVersionOf(type), subresource: path.subresource ?? '', time: timestamp(parts.clock.now()) };
}

function userAgentName(agent: string): string {
  return (agent.split('/')[0] ?? '').replace(/[^\x20-\x7e]/g, '').slice(0, MAX_NAME);
}

/** The managedFields of a new object. */
export function recordedCreation(call: Call, object: AnyObject): Entries {
  if (fieldManagerOf(call.query) === undefined) return undefined;
  return entriesAfter(call, { before: {}, after: object, owners: NOBODY });
}

export type Change = { readonly old: AnyObject; readonly wanted: AnyObject; readonly merged: AnyObject };

/** The managedFields of a changed object: `wanted` is what was sent, `merged` what of it can change. */
export function recordedUpdate(call: Call, { old, wanted, merged }: Change): Entries {
  const known = old.metadata.managedFields;
  if (call.path.subresource === 'binding') return known;
  const sent = call.path.subresource === undefined ? wanted.metadata.managedFields : undefined;
  if (isReset(sent)) return undefined;
  if (!known && !sent) return undefined;
  const claimed = ownersIn(sent);
  const owners = claimed && claimed.size > 0 ? claimed : (ownersIn(known) ?? NOBODY);
  return owners.size === 0 ? undefined : entriesAfter(call, { before: old, after: merged, owners });
}

function isReset(sent: unknown): boolean {
  if (!Array.isArray(sent) || sent.length > 1) return false;
  return sent.length === 0 || (isObject(sent[0]) && Object.keys(sent[0]).length === 0);
}

function entriesAfter(
  call: Call,
  { before, after, owners }: { readonly before: object; readonly after: object; readonly owners: Owners },
): Entries {
  const { schema } = call.type;
  const update = { schema: schema && asResource(schema), before, after, owners, writer: writerOf(call, 'Update') };
  return entriesOf(ownersAfterUpdate(update));
}
