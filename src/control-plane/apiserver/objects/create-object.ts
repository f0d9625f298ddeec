/** A new object on its way into the store: with a name and an identity, completed, checked, admitted. POST and apply create through here. */
import type { ManagedFieldsEntry } from '../../../api/meta.ts';
import { isApiError } from '../../../base/errors.ts';
import type { JsonObject } from '../../../base/json.ts';
import type { StoreEvent } from '../../store/entry.ts';
import { recordedCreation } from '../apply/record-write.ts';
import { isDryRun } from '../request/query.ts';
import { alreadyExists } from '../response/api-errors.ts';
import { renderAt, toStored } from '../response/render.ts';
import type { AdmissionAttributes, Call } from '../server-parts.ts';
import { type AnyObject, storeKey } from '../types/resource-type.ts';
import { assertAdmitted, assertReadable, assertValid, mutated } from './admit-object.ts';
import { assertNamespaceActive } from './namespace-lifecycle.ts';
import { generatedName, withNewIdentity } from './object-meta.ts';
import { reserve } from './reserve.ts';

/** The created object; `owned` is who owns its fields, if that is known already. AlreadyExists when the name is taken. */
export async function createObject(call: Call, sent: AnyObject, owned?: readonly ManagedFieldsEntry[]): Promise<AnyObject> {
  const { parts, type, path } = call;
  const name = sent.metadata.name || generatedName(sent.metadata.generateName ?? '');
  const { status: _, ...withoutStatus } = sent;
  const wanted = (type.subresources.includes('status') && !type.strategy.keepsNewStatus ? withoutStatus : sent) as AnyObject; // only an optional field was taken away
  const fresh = withNewIdentity(type, wanted, { namespace: path.namespace, name, nowMs: parts.clock.now() });
  const managedFields = owned ?? recordedCreation(call, fresh);
  if (type.strategy.prepareCreate) assertReadable(call, fresh);
  const prepared = withOwners(type.strategy.prepareCreate?.(fresh) ?? fresh, managedFields);
  const review: AdmissionAttributes & { object: AnyObject } = {
    operation: 'CREATE',
    type,
    namespace: path.namespace,
    name,
    subresource: undefined,
    object: prepared,
    oldObject: undefined,
    isDryRun: isDryRun(call.query),
    identity: call.identity,
    signal: call.request.signal,
  };
  const object = withOwners(await mutated(call, review), managedFields);
  assertValid(call, object, undefined);
  await assertAdmitted(call, { ...review, object });
  assertNamespaceActive(call, name);
  const value = await parts.conversions.stored(type, object, call.request.signal);
  const giveBack = reserve(call, { ...review, object });
  try {
    return await store(call, { object, value, isDry: review.isDryRun }); // at once: whoever has room has sent the write
  } finally {
    giveBack();
  }
}

/** Whatever admission made of them. */
function withOwners(object: AnyObject, managedFields: readonly ManagedFieldsEntry[] | undefined): AnyObject {
  if (object.metadata.managedFields === managedFields) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata: { ...metadata, ...(managedFields && { managedFields }) } };
}

type Storing = { readonly object: AnyObject; readonly value: JsonObject; readonly isDry: boolean };

async function store({ parts, type, path }: Call, { object, value, isDry }: Storing): Promise<AnyObject> {
  const { name } = object.metadata;
  const key = storeKey(type, path.namespace, name);
  if (isDry) {
    if (parts.store.get(key)) throw alreadyExists(type, name);
    return object;
  }
  let written: StoreEvent;
  try {
    written = await parts.store.write({ key, expectedRevision: 0, value });
  } catch (error) {
    throw isApiError(error, 'Conflict') ? alreadyExists(type, name) : error;
  }
  return renderAt(type, toStored(type, object), written.revision);
}
