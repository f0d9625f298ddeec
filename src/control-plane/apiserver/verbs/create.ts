/** POST to a collection: a new object with a name and an identity. */

import { requiredCause } from '../../../base/causes.ts';
import { ApiError, isApiError } from '../../../base/errors.ts';
import { createObject } from '../objects/create-object.ts';
import { assertNamespaceActive } from '../objects/namespace-lifecycle.ts';
import { typedBody } from '../request/typed-body.ts';
import { invalid, methodNotAllowed } from '../response/api-errors.ts';
import { respondObject } from '../response/respond.ts';
import type { Call } from '../server-parts.ts';
import type { AnyObject } from '../types/resource-type.ts';

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
      return respondObject(call, await createObject(call, sent), 201);
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
