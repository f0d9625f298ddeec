/**
 * Changing a stored object: read, change, check, compare-and-swap, and again when somebody was faster.
 * PUT, PATCH, the status and scale subresources and bindings all go through here, so the rules are in one place:
 *
 *   resourceVersion named and not current   Conflict
 *   nothing changed                         no new revision
 *   the wanted part changed                 generation + 1
 *   last finalizer of a deleted object      the object goes
 */
import type { ManagedFieldsEntry } from '../../../api/meta.ts';
import { isApiError } from '../../../base/errors.ts';
import { deepEqual, type JsonObject, jsonText } from '../../../base/json.ts';
import type { Entry } from '../../store/entry.ts';
import { sameOwnership } from '../apply/own-fields.ts';
import { type Change, recordedUpdate } from '../apply/record-write.ts';
import { withEphemeralContainers } from '../kinds/ephemeral-containers.ts';
import { isDryRun } from '../request/query.ts';
import { conflict, modified, notFound } from '../response/api-errors.ts';
import { renderAt, toStored } from '../response/render.ts';
import type { AdmissionAttributes, Call } from '../server-parts.ts';
import { type AnyObject, storeKey } from '../types/resource-type.ts';
import { assertAdmitted, assertReadable, assertValid, mutated } from './admit-object.ts';
import { desiredPartOf, withOldIdentity } from './object-meta.ts';
import { reserve } from './reserve.ts';

/** What the client wants the object to become; it may throw. The result's resourceVersion and uid, if set, are preconditions. */
export type ObjectChange = (old: AnyObject) => AnyObject;

export type ChangeOptions = {
  /** Which part of the object may change; that of the request when it is not given. */
  readonly subresource?: string | undefined;
  /** Who owns which fields afterwards; by the rules for updates when it is not given. */
  readonly recorded?: (change: Change) => readonly ManagedFieldsEntry[] | undefined;
};

const MAX_TRIES = 50;

/** The object after the change. */
export async function changeObject(call: Call, change: ObjectChange, options: ChangeOptions = {}): Promise<AnyObject> {
  const { parts, type, path } = call;
  const subresource = 'subresource' in options ? options.subresource : path.subresource;
  const recorded = options.recorded ?? ((each) => recordedUpdate(call, each));
  const name = path.name ?? '';
  for (let tries = 1; ; tries += 1) {
    const entry = parts.store.get(storeKey(type, path.namespace, name));
    if (!entry) throw notFound(type, name);
    await parts.conversions.prepare(type, [entry], call.request.signal);
    const old = parts.renderer.render(type, entry);
    const wanted = change(old);
    assertPreconditions(call, wanted, old);
    const object = await prepared(call, { wanted, old, subresource, recorded });
    if (isUnchanged(object, old)) return old;
    const next = withGeneration(call, object, old);
    const value = mayVanish(call, next) ? undefined : await parts.conversions.stored(type, next, call.request.signal);
    const giveBack = reserve(call, reviewOf(call, { object, old, subresource }));
    try {
      return isDryRun(call.query) ? next : await commit(call, { entry, next, value });
    } catch (error) {
      // Somebody was faster. Whoever named a version gets Conflict from the comparison with the new state, the others go on.
      if (!isApiError(error, 'Conflict')) throw error;
      if (tries === MAX_TRIES) throw modified(type, name);
    } finally {
      giveBack();
    }
  }
}

function assertPreconditions({ type }: Call, wanted: AnyObject, old: AnyObject): void {
  const { uid, resourceVersion } = wanted.metadata;
  const { name } = old.metadata;
  if (uid && uid !== old.metadata.uid) {
    throw conflict(type, name, `Precondition failed: UID in precondition: ${jsonText(uid)}, UID in object meta: ${old.metadata.uid}`);
  }
  if (resourceVersion && resourceVersion !== old.metadata.resourceVersion) throw modified(type, name);
}

type Step = {
  readonly wanted: AnyObject;
  readonly old: AnyObject;
  readonly subresource: string | undefined;
  readonly recorded: NonNullable<ChangeOptions['recorded']>;
};

async function prepared(call: Call, { wanted, old, subresource, recorded }: Step): Promise<AnyObject> {
  const { type } = call;
  const changed = withOldIdentity(mergedBySubresource(call, { wanted, old, subresource }), old);
  const managedFields = recorded({ old, wanted, merged: changed });
  const merged = withOwners(changed, managedFields);
  if (type.strategy.prepareUpdate) assertReadable(call, merged, old);
  const complete = type.strategy.prepareUpdate?.(merged, old, subresource) ?? merged;
  if (isUnchanged(complete, old)) return complete;
  const review = reviewOf(call, { object: complete, old, subresource });
  const object = withOwners(withOldIdentity(await mutated(call, review), old), managedFields);
  assertValid(call, object, old);
  await assertAdmitted(call, { ...review, object });
  return object;
}

type Reviewed = { readonly object: AnyObject; readonly old: AnyObject; readonly subresource: string | undefined };

function reviewOf(call: Call, { object, old, subresource }: Reviewed): AdmissionAttributes & { object: AnyObject } {
  return {
    operation: 'UPDATE',
    type: call.type,
    namespace: call.path.namespace,
    name: old.metadata.name,
    subresource,
    object,
    oldObject: old,
    isDryRun: isDryRun(call.query),
    identity: call.identity,
    signal: call.request.signal,
  };
}

/** Status and the rest are separate worlds where a kind has a status subresource; a custom status write leaves metadata alone as well. */
function mergedBySubresource({ type }: Call, { wanted, old, subresource }: Omit<Step, 'recorded'>): AnyObject {
  if (subresource === 'status') {
    return { ...old, ...(type.isBuiltIn && { metadata: wanted.metadata }), status: wanted['status'] };
  }
  if (subresource === 'ephemeralcontainers') return withEphemeralContainers(old, wanted);
  if (subresource === 'binding' || !type.subresources.includes('status')) return wanted;
  return { ...wanted, status: old['status'] };
}

function withOwners(object: AnyObject, managedFields: readonly ManagedFieldsEntry[] | undefined): AnyObject {
  return managedFields ? { ...object, metadata: { ...object.metadata, managedFields } } : object;
}

/** When somebody came to own what they own is no change. */
function isUnchanged(object: AnyObject, old: AnyObject): boolean {
  const bare = (each: AnyObject) => ({ ...each, metadata: { ...each.metadata, resourceVersion: '', managedFields: undefined } });
  return sameOwnership(object.metadata.managedFields, old.metadata.managedFields) && deepEqual(bare(object), bare(old));
}

/** What a status says is never wanted, also where annotations, which may come with it, are. */
function withGeneration({ type, path }: Call, object: AnyObject, old: AnyObject): AnyObject {
  if (!type.hasGeneration || path.subresource === 'status' || deepEqual(desiredPartOf(type, object), desiredPartOf(type, old)))
    return object;
  return { ...object, metadata: { ...object.metadata, generation: (old.metadata.generation ?? 0) + 1 } };
}

type Commit = { readonly entry: Entry; readonly next: AnyObject; readonly value: JsonObject | undefined };

async function commit({ parts, type }: Call, { entry, next, value }: Commit): Promise<AnyObject> {
  const written = await parts.store.write({ key: entry.key, expectedRevision: entry.revision, value });
  return renderAt(type, toStored(type, next), written.revision);
}

/** True when nothing keeps a deleted object any more: no finalizer and no grace period. */
function mayVanish({ type }: Pick<Call, 'type'>, object: AnyObject): boolean {
  const { deletionTimestamp, finalizers = [], deletionGracePeriodSeconds = 0 } = object.metadata;
  return (
    deletionTimestamp !== undefined &&
    finalizers.length === 0 &&
    deletionGracePeriodSeconds === 0 &&
    (type.strategy.mayVanish?.(object) ?? true)
  );
}
