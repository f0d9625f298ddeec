/** JSON Patch (RFC 6902) with the limits that keep one request from filling the server's memory. */
import fastJsonPatch, { type Operation } from 'fast-json-patch';
import { ApiError, messageOf } from '../../../base/errors.ts';
import { isObject, type JsonObject } from '../../../base/json.ts';

const MAX_OPERATIONS = 10_000;
/** `copy` can double a document with every line; this much copied text is the end of it. */
const MAX_COPIED_CHARACTERS = 3 * 1024 * 1024;
const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

/** The patched object. A failed test or a path that is not there is refused as Invalid, and nothing is applied. */
export function applyJsonPatch(target: JsonObject, patch: unknown): JsonObject {
  const operations = operationsOf(patch);
  let document: unknown = structuredClone(target);
  let copied = 0;
  for (const [index, operation] of operations.entries()) {
    try {
      if (operation.op === 'copy') copied += lengthAt(document, operation.from);
      if (copied > MAX_COPIED_CHARACTERS) throw new Error(`operations copy more than ${MAX_COPIED_CHARACTERS} characters`);
      document = fastJsonPatch.applyOperation(document, operation, true, true, true, index).newDocument;
    } catch (error) {
      throw new ApiError('Invalid', `the server rejected our request due to an error in our request: ${firstLine(error)}`, {
        cause: error,
      });
    }
  }
  if (!isObject(document)) throw new ApiError('Invalid', 'Cannot apply patch: the result is not an object');
  return document;
}

function operationsOf(patch: unknown): Operation[] {
  if (!Array.isArray(patch)) throw new ApiError('BadRequest', 'Cannot apply JSON patch: the body must be a list of operations');
  if (patch.length > MAX_OPERATIONS) {
    const message = `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${patch.length}`;
    throw new ApiError('RequestEntityTooLarge', message);
  }
  for (const operation of patch) {
    if (!isObject(operation)) throw new ApiError('BadRequest', 'Cannot apply JSON patch: an operation must be an object');
    const { path, from } = operation;
    refusePrototype(path);
    refusePrototype(from);
  }
  // The validator of fast-json-patch checks each operation's own shape when it is applied.
  return patch as Operation[];
}

function refusePrototype(pointer: unknown): void {
  if (typeof pointer !== 'string') return;
  if (pointer.split('/').some((key) => FORBIDDEN_KEYS.has(key.replaceAll('~1', '/').replaceAll('~0', '~')))) {
    throw new ApiError('Invalid', `Cannot apply JSON patch: ${pointer} does not name a field`);
  }
}

function lengthAt(document: unknown, pointer: string): number {
  return JSON.stringify(fastJsonPatch.getValueByPointer(document, pointer))?.length ?? 0;
}

/** The library appends the whole document to its messages. */
function firstLine(error: unknown): string {
  return messageOf(error).split('\n')[0] ?? '';
}
