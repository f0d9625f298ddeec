/** POST to a collection: a new object with a name and an identity. */

import { requiredCause } from '../../../base/causes.ts';
import { ApiError, isApiError } from '../../../base/errors.ts';
import type { StoreEvent } from '../../store/entry.ts';
import { assertAdmitted, assertReadable, assertValid, mutated } from '../objects/admit-object.ts';
import { assertNamespaceActive } from '../objects/namespace-lifecycle.ts';
import { generatedName, withNewIdentity } from '../objects/object-meta.ts';
import { isDryRun } from '../request/query.ts';
import { typedBody } from '../request/typed-body.ts';
import { alreadyExists, invalid, methodNotAllowed } from '../response/api-errors.ts';
import { renderAt, toStored } from '../response/render.ts';
import { respondObject } from '../response/respond.ts';
import type { AdmissionAttributes, Call } from '../server-parts.ts';
import { type AnyObject, storeKey } from '../types/resource-type.ts';

const GENERATE_TRIES = 8;

export async function create(call: Call): Promise<Response> {
  const { parts, type, path } = call;
  if (path.name !== undefined || (type.isNamespaced && path.namespace === undefined)) throw methodNotAllowed();
  if (parts.registry.definitionOf(type)?.metadata.deletionTimestamp) throw methodNotAllowed();
  const sent = await typedBody(call, 'the object to create');
  assertSentMeta(call, sent);
  assertNamespaceActive(call, sent.metadata.name || sent.metadata.generateName || '');
  for (let tries = 1; ; tries += 1) {
    try {
      return respondObject(call, await createOnce(call, sent), 201);
    } catch (error) {
      const isRetryable = isApiError(error, 'AlreadyExists') && !sent.metadata.name && tries < GENERATE_TRIES;
      if (!isRetryable) throw error;
    }
  }
}

/** What only a new object must keep: it has a name or a prefix for one, and no past. */
function assertSentMeta({ type, path }: Call, { metadata }: AnyObject): void {
  if (!metadata.name && !metadata.generateName) {
    throw invalid(type, '', [requiredCause('metadata.name', 'name or generateName is required')]);
  }
  if (metadata.resourceVersion) throw new ApiError('BadRequest', 'resourceVersion should not be set on objects to be created');
  if (metadata.namespace && metadata.namespace !== (path.namespace ?? '')) {
    throw new ApiError('BadRequest', 'the namespace of the provided object does not match the namespace sent on the request');
  }
}

async function createOnce(call: Call, sent: AnyObject): Promise<AnyObject> {
  const { parts, type, path } = call;
  const name = sent.metadata.name || generatedName(sent.metadata.generateName ?? '');
  const { status: _, ...withoutStatus } = sent;
  const wanted = (type.subresources.includes('status') && !type.strategy.keepsNewStatus ? withoutStatus : sent) as AnyObject; // only an optional field was taken away
  const fresh = withNewIdentity(type, wanted, { namespace: path.namespace, name, nowMs: parts.clock.now() });
  if (type.strategy.prepareCreate) assertReadable(call, fresh);
  const prepared = type.strategy.prepareCreate?.(fresh) ?? fresh;
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
  const object = await mutated(call, review);
  assertValid(call, object, undefined);
  await assertAdmitted(call, { ...review, object });
  assertNamespaceActive(call, name);
  return store(call, object, review.isDryRun);
}

async function store({ parts, type, path }: Call, object: AnyObject, isDry: boolean): Promise<AnyObject> {
  const { name } = object.metadata;
  const key = storeKey(type, path.namespace, name);
  const value = toStored(type, object);
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
  return renderAt(type, value, written.revision);
}
