/** PATCH of an object or of its status: JSON patch, merge patch, strategic merge for built-in kinds, and server-side apply. */
import { ApiError } from '../../../base/errors.ts';
import { completed } from '../objects/admit-object.ts';
import { changeObject } from '../objects/change-object.ts';
import { APPLY_TYPE, applyPatch, assertPatchType } from '../patch/apply-patch.ts';
import { mediaTypeOf, readBody } from '../request/decode-body.ts';
import { assertBounded, parseJson } from '../request/parse-text.ts';
import { assertPlainPatchOptions } from '../request/query.ts';
import { respondObject } from '../response/respond.ts';
import type { Call } from '../server-parts.ts';
import type { AnyObject } from '../types/resource-type.ts';
import { apply } from './apply.ts';

export async function patch(call: Call): Promise<Response> {
  if (mediaTypeOf(call.request) === APPLY_TYPE) return apply(call);
  assertPlainPatchOptions(call.query);
  const change = await patchOf(call);
  return respondObject(call, await changeObject(call, change));
}

/** The change that the body of a PATCH asks for, as a function that can be applied again after a lost race. */
async function patchOf(call: Call): Promise<(old: AnyObject) => AnyObject> {
  const { request, type } = call;
  const contentType = mediaTypeOf(request);
  assertPatchType(contentType, { isStrategic: type.isBuiltIn });
  const bytes = await readBody(request);
  const body = parseJson(bytes);
  return (old) => {
    const patched = applyPatch({ contentType, patch: body, target: old, schema: type.isBuiltIn ? type.schema : undefined });
    assertBounded(patched);
    const { apiVersion, kind, metadata } = old;
    if (patched['apiVersion'] !== apiVersion || patched['kind'] !== kind) {
      throw new ApiError('BadRequest', 'a patch may not change the apiVersion or kind of an object');
    }
    const object = completed(call, patched, old);
    if (object.metadata?.name !== metadata.name || object.metadata.namespace !== metadata.namespace) {
      throw new ApiError('BadRequest', 'a patch may not change the name or namespace of an object');
    }
    return object;
  };
}
