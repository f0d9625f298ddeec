/** DELETE of one object: gone at once, or marked and left to whoever holds it. */
import { isApiError } from '../../../base/errors.ts';
import type { JsonObject } from '../../../base/json.ts';
import { assertAdmitted } from '../objects/admit-object.ts';
import { decideDeletion } from '../objects/decide-deletion.ts';
import { decodeBody } from '../request/decode-body.ts';
import { type DeleteOptions, deleteOptions } from '../request/query.ts';
import { conflict, forbidden, notFound } from '../response/api-errors.ts';
import { renderAt, toStored } from '../response/render.ts';
import { respondJson, respondObject } from '../response/respond.ts';
import type { Call } from '../server-parts.ts';
import { type AnyObject, storeKey } from '../types/resource-type.ts';

/** Namespaces without which a cluster is none. */
const IMMORTAL_NAMESPACES = ['default', 'kube-system', 'kube-public'];

export type Deleted = { readonly object: AnyObject; readonly isGone: boolean };

export async function deleteOne(call: Call): Promise<Response> {
  const options = deleteOptions(call.query, (await decodeBody(call.request)) ?? {});
  const { object, isGone } = await deleteObject(call, call.path.name ?? '', options);
  if (!isGone || call.type.returnsDeleted) return respondObject(call, object);
  return respondJson(successStatus(call, object), { request: call.request });
}

/** Deletes the named object of the collection a call is about; also how whole collections and namespaces are emptied. */
export async function deleteObject(call: Call, name: string, options: DeleteOptions): Promise<Deleted> {
  const { parts, type, path } = call;
  if (type.kind === 'Namespace' && type.group === '' && IMMORTAL_NAMESPACES.includes(name)) {
    throw forbidden(type, name, 'this namespace may not be deleted');
  }
  const key = storeKey(type, path.namespace, name);
  for (;;) {
    const entry = parts.store.get(key);
    if (!entry) throw notFound(type, name);
    await parts.conversions.prepare(type, [entry], call.request.signal);
    const old = parts.renderer.render(type, entry);
    assertPreconditions(call, old, options);
    await assertAdmitted(call, admissionRequest(call, old, options.isDryRun));
    const { outcome, object } = decideDeletion(type, old, { ...options, nowMs: parts.clock.now() });
    if (outcome === 'nothing' || options.isDryRun) return { object, isGone: outcome === 'remove' };
    const value = toStored(type, object);
    const kept = outcome === 'remove' ? undefined : await parts.conversions.stored(type, object, call.request.signal);
    try {
      const operation = { key, expectedRevision: entry.revision, value: kept };
      const { revision } = await parts.store.write(operation);
      return { object: renderAt(type, value, revision), isGone: outcome === 'remove' };
    } catch (error) {
      if (!isApiError(error, 'Conflict')) throw error; // somebody was faster: decide again about what is there now
    }
  }
}

function assertPreconditions({ type }: Call, { metadata }: AnyObject, { uid, resourceVersion }: DeleteOptions): void {
  if (uid !== undefined && uid !== metadata.uid) {
    throw conflict(type, metadata.name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`);
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const why = `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${metadata.resourceVersion}`;
    throw conflict(type, metadata.name, why);
  }
}

function admissionRequest({ type, path, identity, request }: Call, old: AnyObject, isDryRun: boolean) {
  return {
    operation: 'DELETE' as const,
    type,
    namespace: path.namespace,
    name: old.metadata.name,
    subresource: undefined,
    object: undefined,
    oldObject: old,
    isDryRun,
    identity,
    signal: request.signal,
  };
}

/** kubectl waits for exactly this uid to go. */
function successStatus({ type }: Call, { metadata: { name, uid } }: AnyObject): JsonObject {
  const details = { name, ...(type.group !== '' && { group: type.group }), kind: type.plural, uid };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}
