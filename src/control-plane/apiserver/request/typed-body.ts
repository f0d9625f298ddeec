/** The body of a create or update as an object of the kind its URL names; what a lenient reading would lose is refused or warned about. */
import { ApiError } from '../../../base/errors.ts';
import { asTyped } from '../objects/admit-object.ts';
import type { Call } from '../server-parts.ts';
import type { AnyObject } from '../types/resource-type.ts';
import { decodeBytes, isJson, mediaTypeOf, readBody } from './decode-body.ts';
import { duplicateKeys } from './duplicate-keys.ts';
import { fieldValidation } from './query.ts';

/** BadRequest when there is no body; `wanted` says in the message what to send. */
export async function typedBody(call: Call, wanted: string): Promise<AnyObject> {
  const mediaType = mediaTypeOf(call.request);
  const bytes = await readBody(call.request);
  const body = decodeBytes(mediaType, bytes);
  if (!body) throw new ApiError('BadRequest', `the request has no body: send ${wanted}`);
  if (isJson(mediaType)) reportDuplicates(call, bytes);
  return asTyped(call, body);
}

/** Refuses fields that are in the body twice, or warns of them, as the request asks. */
export function reportDuplicates({ query, type: { kind, version }, warnings }: Call, bytes: Uint8Array): void {
  const strictness = fieldValidation(query);
  if (strictness === 'Ignore') return;
  const texts = duplicateKeys(new TextDecoder().decode(bytes)).map((path) => `duplicate field ${JSON.stringify(path)}`);
  if (texts.length === 0) return;
  if (strictness === 'Warn') warnings.push(...texts);
  else
    throw new ApiError(
      'BadRequest',
      `${kind} in version "${version}" cannot be handled as a ${kind}: strict decoding error: ${texts.join(', ')}`,
    );
}
