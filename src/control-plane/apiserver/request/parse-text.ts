/** JSON and YAML from bytes, bounded in depth and in how many values they hold: every step after this one costs so much per value. */
import { parse } from 'yaml';
import { ApiError, messageOf } from '../../../base/errors.ts';

/** Deeper than any API object, and shallow enough for every recursive function that will see it. */
const MAX_DEPTH = 200;
/** More than any API object has by a factor of five, and what all steps of a request together do in half a second. */
const MAX_VALUES = 100_000;
/** The largest of our definitions has half of it. */
const MAX_YAML_BYTES = 512 * 1024;
/** Of the characters between which YAML keeps its values; a text with so many takes its parser half a second. */
const MAX_YAML_MARKS = 50_000;
const YAML_MARKS = new Set([...'\n,:{['].map((mark) => mark.charCodeAt(0)));
const OPENING_BRACE = 0x7b;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;

/** JSON from bytes, not deeper than an API object can be. */
export function parseJson(bytes: Uint8Array): unknown {
  if (bytes.length > 2 * MAX_VALUES && commasIn(bytes) > MAX_VALUES) throw tooManyValues();
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new ApiError('BadRequest', `the body of the request is not JSON: ${messageOf(error)}`);
  }
  assertBounded(value);
  return value;
}

/** YAML (and so JSON, too) from bytes; aliases are limited by the parser. */
export function parseYaml(bytes: Uint8Array): unknown {
  if (bytes[0] === OPENING_BRACE && isParsable(bytes)) return parseJson(bytes);
  if (bytes.length > MAX_YAML_BYTES)
    throw new ApiError('RequestEntityTooLarge', `the body of the request is YAML of more than ${MAX_YAML_BYTES} bytes; send JSON`);
  if (yamlMarksIn(bytes) > MAX_YAML_MARKS)
    throw new ApiError('RequestEntityTooLarge', 'the body of the request is YAML of too many values; send JSON');
  let value: unknown;
  try {
    // That keys are unique is not for the parser to check: it compares each with each.
    const options = { version: '1.1', schema: 'core', uniqueKeys: false, prettyErrors: false } as const;
    value = parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes), options);
  } catch (error) {
    throw new ApiError('BadRequest', `the body of the request is not YAML: ${messageOf(error)}`);
  }
  assertBounded(value);
  return value;
}

function isParsable(bytes: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder().decode(bytes));
    return true;
  } catch {
    return false; // flow style that is YAML but not JSON
  }
}

function yamlMarksIn(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) if (YAML_MARKS.has(byte)) count += 1;
  return count;
}

/** BadRequest for what is nested too deeply, RequestEntityTooLarge for what holds too many values. */
export function assertBounded(value: unknown): void {
  let count = 0;
  const visit = (item: unknown, depth: number): void => {
    count += 1;
    if (count > MAX_VALUES) throw tooManyValues();
    if (depth > MAX_DEPTH) throw new ApiError('BadRequest', `the body of the request is nested deeper than ${MAX_DEPTH} levels`);
    if (typeof item !== 'object' || item === null) return;
    for (const each of Array.isArray(item) ? item : Object.values(item)) visit(each, depth + 1);
  };
  visit(value, 0);
}

function tooManyValues(): ApiError {
  return new ApiError('RequestEntityTooLarge', `an object can have at most ${MAX_VALUES} values`);
}

/** Commas of JSON that are not inside a text: there are more values than these, and counting them is much cheaper than reading those. */
function commasIn(bytes: Uint8Array): number {
  let count = 0;
  let isInText = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) isInText = !isInText;
    else if (byte === BACKSLASH) at += 1;
    else if (byte === COMMA && !isInText) count += 1;
  }
  return count;
}
