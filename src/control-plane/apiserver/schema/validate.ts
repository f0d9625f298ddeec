/**
 * Checks a value against a schema and reports every rule it breaks, with the words of Kubernetes' own validator.
 * Patterns are RE2, as on the real server: no pattern of a CRD can make the server think for longer than the text is long.
 */
import {
  duplicateCause,
  invalidCause,
  requiredCause,
  tooLongCause,
  tooManyCause,
  typeCause,
  unsupportedCause,
} from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { isObject, type JsonObject } from '../../../base/json.ts';
import { hasFormat, rangeOf } from './formats.ts';
import { matchesPattern } from './patterns.ts';
import { asResource } from './resource-root.ts';
import { childOf, pathTo, type Schema } from './schema.ts';

/**
 * Every rule of the schema that the object breaks; nothing when it is valid. Top-level fields that are the very ones of `settled` are not looked at again:
 * they were valid when they were stored.
 */
export function validate(schema: Schema, value: JsonObject, settled?: JsonObject): readonly StatusCause[] {
  const root = asResource(schema);
  if (!settled) return validateNode(root, value, '');
  return joined(objectCauses(root, value, '', settled), compositeCauses(root, value, ''));
}

/** The same for a part of an object that is found at `path`, such as a default in a CRD. */
export function validateNode(schema: Schema, value: unknown, path: string): readonly StatusCause[] {
  if (value === null && schema.nullable) return NONE;
  const wrongType = typeCauses(schema, value, path);
  if (wrongType.length > 0) return wrongType;
  return joined(joined(enumCauses(schema, value, path), ownCauses(schema, value, path)), compositeCauses(schema, value, path));
}

/** Nearly all nodes of nearly all objects are right: that must not cost a list each. */
const NONE: readonly StatusCause[] = [];

function joined(some: readonly StatusCause[], more: readonly StatusCause[]): readonly StatusCause[] {
  if (more.length === 0) return some;
  return some.length === 0 ? more : [...some, ...more];
}

/** The list with more in it; it is made when the first comes, and is the caller's own. */
function extended(some: readonly StatusCause[], more: readonly StatusCause[]): readonly StatusCause[] {
  if (more.length === 0) return some;
  if (some === NONE) return [...more];
  for (const each of more) (some as StatusCause[]).push(each); // made above
  return some;
}

function typeCauses(schema: Schema, value: unknown, path: string): readonly StatusCause[] {
  const found = typeOf(value);
  const wrong = (wanted: string) => [typeCause(path, found, `${path} in body must be of type ${wanted}: "${found}"`)];
  if (schema['x-kubernetes-int-or-string']) return found === 'integer' || found === 'string' ? NONE : wrong('integer,string');
  if (schema.type === undefined || schema.type === found) return NONE;
  return schema.type === 'number' && found === 'integer' ? NONE : wrong(schema.type);
}

/** JSON has one kind of number; 1.0 is an integer. */
function typeOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function enumCauses(schema: Schema, value: unknown, path: string): readonly StatusCause[] {
  if (!schema.enum) return NONE;
  const text = JSON.stringify(value);
  return schema.enum.some((allowed) => JSON.stringify(allowed) === text) ? NONE : [unsupportedCause(path, value, schema.enum)];
}

function ownCauses(schema: Schema, value: unknown, path: string): readonly StatusCause[] {
  if (typeof value === 'string') return stringCauses(schema, value, path);
  if (typeof value === 'number') return numberCauses(schema, value, path);
  if (Array.isArray(value)) return arrayCauses(schema, value, path);
  return isObject(value) ? objectCauses(schema, value, path) : NONE;
}

function stringCauses(schema: Schema, value: string, path: string): readonly StatusCause[] {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format } = schema;
  if (minLength === 0 && maxLength === Number.POSITIVE_INFINITY && pattern === undefined && format === undefined) return NONE;
  const causes: StatusCause[] = [];
  // Only a limit makes the characters worth counting: texts can be long.
  const length = minLength > 0 || maxLength < value.length ? [...value].length : minLength;
  if (length > maxLength) causes.push(tooLongCause(path, maxLength));
  if (length < minLength) causes.push(invalidCause(path, value, `${path} in body should be at least ${minLength} chars long`));
  if (pattern !== undefined && !matchesPattern(pattern, value)) {
    causes.push(invalidCause(path, value, `${path} in body should match '${pattern}'`));
  }
  if (format !== undefined && !hasFormat(format, value)) {
    causes.push(typeCause(path, value, `${path} in body must be of type ${format}: ${JSON.stringify(value)}`));
  }
  return causes;
}

function numberCauses(schema: Schema, value: number, path: string): readonly StatusCause[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const causes: StatusCause[] = [];
  const refuse = (rule: string) => causes.push(invalidCause(path, value, `${path} in body should be ${rule}`));
  const [smallest, largest] = rangeOf(schema.format) ?? [undefined, undefined];
  if (maximum !== undefined && exclusiveMaximum && value >= maximum) refuse(`less than ${maximum}`);
  else if (maximum !== undefined && value > maximum) refuse(`less than or equal to ${maximum}`);
  else if (largest !== undefined && value > largest) refuse(`less than or equal to ${largest}`);
  if (minimum !== undefined && exclusiveMinimum && value <= minimum) refuse(`greater than ${minimum}`);
  else if (minimum !== undefined && value < minimum) refuse(`greater than or equal to ${minimum}`);
  else if (smallest !== undefined && value < smallest) refuse(`greater than or equal to ${smallest}`);
  if (multipleOf !== undefined && !Number.isInteger(value / multipleOf)) refuse(`a multiple of ${multipleOf}`);
  return causes;
}

function arrayCauses(schema: Schema, value: readonly unknown[], path: string): readonly StatusCause[] {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, items } = schema;
  let causes = NONE;
  if (value.length > maxItems) causes = extended(causes, [tooManyCause(path, value.length, maxItems)]);
  if (value.length < minItems)
    causes = extended(causes, [invalidCause(path, value.length, `${path} in body should have at least ${minItems} items`)]);
  if (items) for (const [index, item] of value.entries()) causes = extended(causes, validateNode(items, item, pathTo(path, index)));
  return joined(causes, duplicateCauses(schema, value, path));
}

function duplicateCauses(schema: Schema, value: readonly unknown[], path: string): readonly StatusCause[] {
  const listType = schema['x-kubernetes-list-type'];
  if (listType !== 'set' && listType !== 'map') return NONE;
  const seen = new Set<string>();
  const causes: StatusCause[] = [];
  for (const [index, item] of value.entries()) {
    const identity = listType === 'set' ? item : keysOf(schema, item);
    const text = JSON.stringify(identity);
    if (seen.has(text)) causes.push(duplicateCause(pathTo(path, index), identity));
    seen.add(text);
  }
  return causes;
}

function keysOf(schema: Schema, item: unknown): unknown {
  if (!isObject(item)) return item;
  return Object.fromEntries((schema['x-kubernetes-list-map-keys'] ?? []).map((key) => [key, item[key]]));
}

function objectCauses(schema: Schema, value: JsonObject, path: string, settled?: JsonObject): readonly StatusCause[] {
  const node = schema['x-kubernetes-embedded-resource'] ? asResource(schema) : schema;
  const { required = [], minProperties = 0, maxProperties = Number.POSITIVE_INFINITY } = node;
  const keys = Object.keys(value);
  const count = keys.length;
  let causes = NONE;
  for (const key of required)
    if (!Object.hasOwn(value, key) || value[key] === undefined) causes = extended(causes, [requiredCause(pathTo(path, key))]);
  if (count > maxProperties) causes = extended(causes, [tooManyCause(path, count, maxProperties)]);
  if (count < minProperties)
    causes = extended(causes, [invalidCause(path, count, `${path} in body should have at least ${minProperties} properties`)]);
  for (const key of keys) {
    const field = value[key];
    if (settled && settled[key] === field) continue;
    const child = childOf(node, key);
    if (child && field !== undefined) causes = extended(causes, validateNode(child, field, pathTo(path, key)));
  }
  return causes;
}

function compositeCauses({ allOf = [], anyOf, oneOf, not }: Schema, value: unknown, path: string): readonly StatusCause[] {
  if (allOf.length === 0 && !anyOf && !oneOf && !not) return NONE;
  const causes = allOf.flatMap((schema) => validateNode(schema, value, path));
  const refuse = (rule: string) => causes.push(invalidCause(path, '', `"${path}" must ${rule}`));
  if (anyOf && !anyOf.some((schema) => isValid(schema, value, path))) {
    refuse('validate at least one schema (anyOf)');
    causes.push(...fewest(anyOf.map((schema) => validateNode(schema, value, path))));
  }
  const matching = oneOf?.filter((schema) => isValid(schema, value, path)).length;
  if (matching === 0) refuse('validate one and only one schema (oneOf). Found none valid');
  if (matching !== undefined && matching > 1) refuse(`validate one and only one schema (oneOf). Found ${matching} valid alternatives`);
  if (not && isValid(not, value, path)) refuse('not validate the schema (not)');
  return causes;
}

function isValid(schema: Schema, value: unknown, path: string): boolean {
  return validateNode(schema, value, path).length === 0;
}

/** The alternative that nearly matched tells most about what was meant. */
function fewest(alternatives: readonly (readonly StatusCause[])[]): readonly StatusCause[] {
  return alternatives.reduce((best, next) => (next.length < best.length ? next : best), alternatives[0] ?? []);
}
