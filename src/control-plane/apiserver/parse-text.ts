/** JSON and YAML from bytes, bounded in depth. */
import { parse } from 'yaml';
import { ApiError, messageOf } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';

/** Deeper than any API object, and shallow enough for every recursive function that will see it. */
const MAX_DEPTH = 200;

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
  let value: unknown;
  try {
    value = parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes), { version: '1.1', schema: 'core' });
  } catch (error) {
    throw new ApiError('BadRequest', `the body of the request is not YAML: ${messageOf(error)}`);
  }
  assertDepth(value);
  return value;
}

function assertDepth(value: unknown): void {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) throw new ApiError('BadRequest', `the body of the request is nested deeper than ${MAX_DEPTH} levels`);
    level = level.flatMap((item) => (Array.isArray(item) ? item : isObject(item) ? Object.values(item) : []));
  }
}
