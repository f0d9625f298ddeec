/** PUT of an object or of its status. */

import { invalidCause } from '../../../base/causes.ts';
import { ApiError } from '../../../base/errors.ts';
import { changeObject } from '../objects/change-object.ts';
import { typedBody } from '../request/typed-body.ts';
import { invalid } from '../response/api-errors.ts';
import { respondObject } from '../response/respond.ts';
import type { Call } from '../server-parts.ts';
import type { AnyObject } from '../types/resource-type.ts';

export async function update(call: Call): Promise<Response> {
  const object = await typedBody(call, 'the whole object');
  assertSameObject(call, object);
  if (!object.metadata.resourceVersion && !call.type.allowsUnconditionalUpdate) {
    const cause = { ...invalidCause('metadata.resourceVersion', '', ''), message: 'Invalid value: 0x0: must be specified for an update' };
    throw invalid(call.type, call.path.name ?? '', [cause]);
  }
  return respondObject(call, await changeObject(call, () => object));
}

/** The body must be about the object that the URL names. */
function assertSameObject({ path }: Call, { metadata }: AnyObject): void {
  if (metadata.name && metadata.name !== path.name) {
    throw new ApiError('BadRequest', `the name of the object (${metadata.name}) does not match the name on the URL (${path.name})`);
  }
  if (!metadata.name) throw new ApiError('BadRequest', 'the name of the object (based on the URL) was not set in the body');
  if (metadata.namespace && metadata.namespace !== (path.namespace ?? '')) {
    throw new ApiError(
      'BadRequest',
      `the namespace of the object (${metadata.namespace}) does not match the namespace on the URL (${path.namespace ?? ''})`,
    );
  }
}
