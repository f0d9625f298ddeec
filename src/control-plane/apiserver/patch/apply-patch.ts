/** Applies a PATCH body of any of the three plain kinds to an object. Server-side apply is not one of them: it needs to know who owns what (verbs/apply.ts). */
import { ApiError } from '../../../base/errors.ts';
import { isObject, type JsonObject, mergePatch } from '../../../base/json.ts';
import type { Schema } from '../schema/schema.ts';
import { applyJsonPatch } from './json-patch.ts';
import { strategicMerge } from './strategic-merge.ts';

export type PatchRequest = {
  /** The media type of the body, without parameters. */
  readonly contentType: string;
  readonly patch: unknown;
  readonly target: JsonObject;
  /** Set for built-in kinds only: a strategic merge needs to know the keys of lists, which only they publish. */
  readonly schema?: Schema;
};

const PLAIN = ['application/json-patch+json', 'application/merge-patch+json'];
const STRATEGIC = 'application/strategic-merge-patch+json';
/** The body of a server-side apply; YAML, and so JSON as well. */
export const APPLY_TYPE = 'application/apply-patch+yaml';

/** The patched object; `target` stays as it is. */
export function applyPatch({ contentType, patch, target, schema }: PatchRequest): JsonObject {
  switch (contentType) {
    case 'application/json-patch+json':
      return applyJsonPatch(target, patch);
    case 'application/merge-patch+json':
      return objectOf(mergePatch(target, bodyOf(patch)));
    case STRATEGIC:
      if (!schema) throw unsupported(contentType, acceptedTypes(false));
      return strategicMerge(target, bodyOf(patch), schema);
    default:
      throw unsupported(contentType, acceptedTypes(schema !== undefined));
  }
}

/** UnsupportedMediaType for a body that can be no patch of this kind, whether or not the object is there. */
export function assertPatchType(contentType: string, { isStrategic }: { readonly isStrategic: boolean }): void {
  const accepted = acceptedTypes(isStrategic);
  if (!accepted.includes(contentType)) throw unsupported(contentType, accepted);
}

function acceptedTypes(isStrategic: boolean): string[] {
  return [...PLAIN, ...(isStrategic ? [STRATEGIC] : []), APPLY_TYPE];
}

function bodyOf(patch: unknown): JsonObject {
  if (isObject(patch)) return patch;
  throw new ApiError('BadRequest', 'Cannot apply patch: the body must be a JSON object');
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function unsupported(contentType: string, accepted: readonly string[]): ApiError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`;
  return new ApiError('UnsupportedMediaType', message, { cause: new Error(`content type ${contentType}`) });
}
