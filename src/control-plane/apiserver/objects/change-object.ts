/**
 * Changing a stored object: read, change, check, compare-and-swap, and again when somebody was faster.
 * PUT, PATCH, the status and scale subresources and bindings all go through here, so the rules are in one place:
 *
 *   resourceVersion named and not current   Conflict
 *   nothing changed                         no new revision
 *   the wanted part changed                 generation + 1
 *   last finalizer of a deleted object      the object goes
 */
import { isApiError } from '../../../base/errors.ts';
import { deepEqual } from '../../../base/json.ts';
import type { Entry } from '../../store/entry.ts';
import { isDryRun } from '../request/query.ts';
import { conflict, modified, notFound } from '../response/api-errors.ts';
import { renderAt, toStored } from '../response/render.ts';
import type { AdmissionAttributes, Call } from '../server-parts.ts';
import { type AnyObject, storeKey } from '../types/resource-type.ts';
import { assertAdmitted, assertReadable, assertValid, mutated } from './admit-object.ts';
import { desiredPartOf, withOldIdentity } from './object-meta.ts';

/** What the client wants the object to become; it may throw. The result's resourceVersion and uid, if set, are preconditions. */
export type ObjectChange = (old: AnyObject) => AnyObject;

const MAX_TRIES = 50;

/** The object after the change; `subresource` says which part of it may change. */
export async function changeObject(call: Call, change: ObjectChange, subresource = call.path.subresource): Promise<AnyObject> {
  const { parts, type, path } = call;
  const name = path.name ?? '';
  for (let tries = 1; ; tries += 1) {
    const entry = parts.store.get(storeKey(type, path.namespace, name));
    if (!entry) throw notFound(type, name);
    const old = parts.renderer.render(type, entry);
    const wanted = change(old);
    assertPreconditions(call, wanted, old);
    const object = await prepared(call, { wanted, old, subresource });
    if (isUnchanged(object, old)) return old;
    if (isDryRun(call.query)) return withGeneration(call, object, old);
    try {
      return await commit(call, { entry, old, object });
    } catch (error) {
      // Somebody was faster. Whoever named a version gets Conflict from the comparison with the new state, the others go on.
      if (!isApiError(error, 'Conflict')) throw error;
      if (tries === MAX_TRIES) throw modified(type, name);
    }
  }
}

function assertPreconditions({ type }: Call, wanted: AnyObject, old: AnyObject): void {
  const { uid, resourceVersion } = wanted.metadata;
  const { name } = old.metadata;
  if (uid && uid !== old.metadata.uid) {
    throw conflict(type, name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid}`);
  }
  if (resourceVersion && resourceVersion !== old.metadata.resourceVersion) throw modified(type, name);
}

type Step = { readonly wanted: AnyObject; readonly old: AnyObject; readonly subresource: string | undefined };

async function prepared(call: Call, { wanted, old, subresource }: Step): Promise<AnyObject> {
  const { type, path } = call;
  const merged = withOldIdentity(mergedBySubresource(call, { wanted, old, subresource }), old);
  if (type.strategy.prepareUpdate) assertReadable(call, merged);
  const complete = type.strategy.prepareUpdate?.(merged, old, subresource) ?? merged;
  if (isUnchanged(complete, old)) return complete;
  const review: AdmissionAttributes & { object: AnyObject } = {
    operation: 'UPDATE',
    type,
    namespace: path.namespace,
    name: old.metadata.name,
    subresource,
    object: complete,
    oldObject: old,
    isDryRun: isDryRun(call.query),
    identity: call.identity,
    signal: call.request.signal,
  };
  const object = withOldIdentity(await mutated(call, review), old);
  assertValid(call, object, old);
  await assertAdmitted(call, { ...review, object });
  return object;
}

/** Status and the rest are separate worlds where a kind has a status subresource; a custom status write leaves metadata alone as well. */
function mergedBySubresource({ type }: Call, { wanted, old, subresource }: Step): AnyObject {
  if (subresource === 'status') {
    return { ...old, ...(type.isBuiltIn && { metadata: wanted.metadata }), status: wanted['status'] };
  }
  if (subresource === 'binding' || !type.subresources.includes('status')) return wanted;
  return { ...wanted, status: old['status'] };
}

function isUnchanged(object: AnyObject, old: AnyObject): boolean {
  return deepEqual(
    { ...object, metadata: { ...object.metadata, resourceVersion: '' } },
    { ...old, metadata: { ...old.metadata, resourceVersion: '' } },
  );
}

function withGeneration({ type }: Call, object: AnyObject, old: AnyObject): AnyObject {
  if (!type.hasGeneration || deepEqual(desiredPartOf(type, object), desiredPartOf(type, old))) return object;
  return { ...object, metadata: { ...object.metadata, generation: (old.metadata.generation ?? 0) + 1 } };
}

async function commit(call: Call, { entry, old, object }: { entry: Entry; old: AnyObject; object: AnyObject }): Promise<AnyObject> {
  const { parts, type } = call;
  const next = withGeneration(call, object, old);
  const value = toStored(type, next);
  const isLast = mayVanish(call, next);
  const written = await parts.store.write({ key: entry.key, expectedRevision: entry.revision, value: isLast ? undefined : value });
  return renderAt(type, value, written.revision);
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
