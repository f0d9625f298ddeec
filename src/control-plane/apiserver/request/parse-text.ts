/** JSON and YAML from bytes, bounded in depth. */
import { parse } from 'yaml';
import { ApiError, messageOf } from '../../../base/errors.ts';
import { isObject } from '../../../base/json.ts';

/** Deeper than any API object, and shallow enough for every recursive function that will see it. */
const MAX_DEPTH = 200;
/** What takes the parser of YAML two seconds at worst: nobody else is answered meanwhile. The largest of our definitions has half of it. */
const MAX_YAML_BYTES = 512 * 1024;
const OPENING_BRACE = 0x7b;

/** JSON from bytes, not deeper than an API object can be. */
export function parseJson(bytes: Uint8Array): unknown {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new ApiError('BadRequest', `the body of the request is not JSON: ${messageOf(error)}`);
  }
  assertDepth(value);
  return value;
}

/** YAML (and so JSON, too) from bytes; aliases are limited by the parser. */
export function parseYaml(bytes: Uint8Array): unknown {
  if (bytes[0] === OPENING_BRACE && isParsable(bytes)) return parseJson(bytes);
  if (bytes.length > MAX_YAML_BYTES)
    throw new ApiError('RequestEntityTooLarge', `the body of the request is YAML of more than ${MAX_YAML_BYTES} bytes; send JSON`);
  let value: unknown;
  try {
    // That keys are unique is not for the parser to check: it compares each with each.
    const options = { version: '1.1', schema: 'core', uniqueKeys: false, prettyErrors: false } as const;
    value = parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes), options);
  } catch (error) {
    throw new ApiError('BadRequest', `the body of the request is not YAML: ${messageOf(error)}`);
  }
  assertDepth(value);
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

function assertDepth(value: unknown): void {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) throw new ApiError('BadRequest', `the body of the request is nested deeper than ${MAX_DEPTH} levels`);
    level = level.flatMap((item) => (Array.isArray(item) ? item : isObject(item) ? Object.values(item) : []));
  }
}
