/** JSON Patch (RFC 6902) with the limits that keep one request from filling the server's memory. */
import fastJsonPatch, { type Operation } from 'fast-json-patch';
import { ApiError, messageOf } from '../../../base/errors.ts';
import { isObject, type JsonObject } from '../../../base/json.ts';

const MAX_OPERATIONS = 10_000;
/** `copy` can double a document with every line; this much copied text is the end of it. */
const MAX_COPIED_CHARACTERS = 3 * 1024 * 1024;
/** An operation moves or counts what stands beside its place: so many neighbours in all take well under a second. */
const MAX_TOUCHED_ITEMS = 20_000_000;
/** Listing a field of a map costs as much as moving so many items of a list. */
const KEY_COST = 50;
const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

/** The patched object. A failed test or a path that is not there is refused as Invalid, and nothing is applied. */
export function applyJsonPatch(target: JsonObject, patch: unknown): JsonObject {
  const operations = operationsOf(patch);
  const spent: Spent = { copiedCharacters: 0, touchedItems: 0 };
  let document: unknown = structuredClone(target);
  for (const operation of operations) {
    try {
      spend(spent, document, operation);
      for (const step of stepsOf(document, operation)) document = fastJsonPatch.applyOperation(document, step, true).newDocument;
    } catch (error) {
      if (error instanceof ApiError) throw error;
      throw new ApiError('Invalid', `the server rejected our request due to an error in our request: ${firstLine(error)}`, {
        cause: error,
      });
    }
  }
  if (!isObject(document)) throw new ApiError('Invalid', 'Cannot apply patch: the result is not an object');
  return document;
}

type Spent = { copiedCharacters: number; touchedItems: number };

/** Counts what an operation will cost, before it is performed; RequestEntityTooLarge when that is too much for one patch. */
function spend(spent: Spent, document: unknown, operation: Operation): void {
  spent.touchedItems += neighboursAt(document, operation.path);
  if (operation.op === 'move') spent.touchedItems += neighboursAt(document, operation.from);
  if (operation.op === 'test') spent.touchedItems += KEY_COST * fieldsAt(document, operation.path);
  if (operation.op === 'copy') spent.copiedCharacters += lengthAt(document, operation.from);
  if (spent.touchedItems > MAX_TOUCHED_ITEMS)
    throw new ApiError(
      'RequestEntityTooLarge',
      `Cannot apply JSON patch: operations move or compare more than ${MAX_TOUCHED_ITEMS} items; replace the whole list instead`,
    );
  if (spent.copiedCharacters > MAX_COPIED_CHARACTERS) throw new Error(`operations copy more than ${MAX_COPIED_CHARACTERS} characters`);
}

/** How many items stand in the list that holds a place: they all move up or down. */
function neighboursAt(document: unknown, pointer: unknown): number {
  if (typeof pointer !== 'string') return 0;
  const parent = valueAt(document, pointer.slice(0, Math.max(0, pointer.lastIndexOf('/'))));
  return Array.isArray(parent) ? parent.length : 0;
}

/** How many fields the map at a place has: comparing it begins by counting them. */
function fieldsAt(document: unknown, pointer: unknown): number {
  const value = typeof pointer === 'string' ? valueAt(document, pointer) : undefined;
  return isObject(value) ? Object.keys(value).length : 0;
}

/** Undefined where there is nothing, which performing the operation will say better. */
function valueAt(document: unknown, pointer: string): unknown {
  try {
    return fastJsonPatch.getValueByPointer(document, pointer);
  } catch {
    return undefined;
  }
}

/** A move as what it is, a removal and an addition: the library would copy the value that stands at its target. */
function stepsOf(document: unknown, operation: Operation): Operation[] {
  if (operation.op !== 'move' || typeof operation.from !== 'string') return [operation];
  if (operation.path.startsWith(`${operation.from}/`)) throw new Error('a value cannot be moved into itself');
  const value = fastJsonPatch.getValueByPointer(document, operation.from);
  return [
    { op: 'remove', path: operation.from },
    { op: 'add', path: operation.path, value },
  ];
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
