/**
 * The rules that make a schema structural: the shape of every object can be read off the schema without looking at a value.
 *   every node has a type, except int-or-string and preserve-unknown-fields nodes
 *   inside allOf, anyOf, oneOf and not there are only restrictions, no shape
 *   keywords that would need the whole document or quadratic time are refused
 */

import { forbiddenCause, invalidCause, requiredCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { isObject, type JsonObject } from '../../../base/json.ts';
import { patternProblem } from './patterns.ts';
import { prune } from './prune.ts';
import type { Schema } from './schema.ts';
import { validateNode } from './validate.ts';

const REFUSED = [
  '$ref',
  'definitions',
  'dependencies',
  'deprecated',
  'discriminator',
  'id',
  'patternProperties',
  'readOnly',
  'writeOnly',
  'xml',
];
/** Shape does not belong under a logical operator. */
const SHAPE = ['type', 'default', 'additionalProperties', 'nullable', 'description', 'title', 'x-kubernetes-preserve-unknown-fields'];
const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

/** Every rule the schema of a CRD version breaks; `path` is where it is in the CRD. */
export function structuralCauses(schema: JsonObject, path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const { type } = schema;
  if (type === undefined || type === '') causes.push(requiredCause(`${path}.type`, 'must not be empty at the root'));
  else if (type !== 'object') causes.push(invalidCause(`${path}.type`, type, 'must be object at the root'));
  return [...causes, ...metadataCauses(schema, path), ...nodeCauses(schema, path, 'root')];
}

function metadataCauses(schema: JsonObject, path: string): StatusCause[] {
  const metadata = mapOf(schema['properties'])['metadata'];
  if (!isObject(metadata)) return [];
  const others = Object.keys(mapOf(metadata['properties'])).filter((key) => key !== 'name' && key !== 'generateName');
  if (others.length === 0) return [];
  const why = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
  return [forbiddenCause(`${path}.properties[metadata]`, why)];
}

function nodeCauses(node: JsonObject, path: string, place: 'root' | 'object fields' | 'array items'): StatusCause[] {
  return [
    ...typeCauses(node, path, place),
    ...refusedCauses(node, path),
    ...listCauses(node, path),
    ...valueCauses(node, path),
    ...logicCauses(node, path),
    ...childCauses(node, path),
  ];
}

function typeCauses(node: JsonObject, path: string, place: string): StatusCause[] {
  const { type } = node;
  if (node['x-kubernetes-int-or-string'] === true) {
    return type === undefined ? [] : [invalidCause(`${path}.type`, type, 'must be empty if x-kubernetes-int-or-string is true')];
  }
  if (type === undefined || type === '') {
    const isFree = node['x-kubernetes-preserve-unknown-fields'] === true || place === 'root';
    return isFree ? [] : [requiredCause(`${path}.type`, `must not be empty for specified ${place}`)];
  }
  if (typeof type === 'string' && TYPES.includes(type)) return [];
  return [
    {
      reason: 'FieldValueNotSupported',
      message: `Unsupported value: ${JSON.stringify(type)}: supported values: ${TYPES.map((t) => `"${t}"`).join(', ')}`,
      field: `${path}.type`,
    },
  ];
}

function refusedCauses(node: JsonObject, path: string): StatusCause[] {
  const causes = REFUSED.filter((key) => node[key] !== undefined).map((key) => forbiddenCause(`${path}.${key}`, `${key} is not supported`));
  if (node['uniqueItems'] === true) {
    causes.push(forbiddenCause(`${path}.uniqueItems`, 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'));
  }
  if (node['additionalProperties'] === false) {
    causes.push(forbiddenCause(`${path}.additionalProperties`, 'additionalProperties cannot be set to false'));
  }
  if (node['additionalProperties'] !== undefined && Object.keys(mapOf(node['properties'])).length > 0) {
    causes.push(forbiddenCause(`${path}.additionalProperties`, 'additionalProperties and properties are mutual exclusive'));
  }
  if (Array.isArray(node['items'])) causes.push(forbiddenCause(`${path}.items`, 'items must be a schema object and not an array'));
  return causes;
}

/** The keys of a list map must always be there, or two items could not be told apart. */
function listCauses(node: JsonObject, path: string): StatusCause[] {
  const listType = node['x-kubernetes-list-type'];
  if (node['type'] === 'array' && !isObject(node['items']) && !Array.isArray(node['items'])) {
    return [requiredCause(`${path}.items`, 'must be specified')];
  }
  if (listType !== 'map') return [];
  const keys = Array.isArray(node['x-kubernetes-list-map-keys']) ? node['x-kubernetes-list-map-keys'].map(String) : [];
  if (keys.length === 0) {
    return [requiredCause(`${path}.x-kubernetes-list-map-keys`, 'must not be empty if x-kubernetes-list-type is map')];
  }
  const items = mapOf(node['items']);
  const required = Array.isArray(items['required']) ? items['required'] : [];
  const isCertain = (key: string) => required.includes(key) || mapOf(mapOf(items['properties'])[key])['default'] !== undefined;
  const why = 'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property';
  return keys.filter((key) => !isCertain(key)).map((key) => requiredCause(`${path}.items.properties[${key}].default`, why));
}

function valueCauses(node: JsonObject, path: string): StatusCause[] {
  const { pattern } = node;
  const problem = typeof pattern === 'string' ? patternProblem(pattern) : undefined;
  const causes =
    problem === undefined ? [] : [invalidCause(`${path}.pattern`, pattern, `must be a valid regular expression, but isn't: ${problem}`)];
  // Only a sound schema can judge its default.
  if (node['default'] === undefined || node['default'] === null || problem !== undefined) return causes;
  return [...causes, ...defaultCauses(node, path)];
}

function defaultCauses(node: JsonObject, path: string): StatusCause[] {
  const schema: Schema = node;
  const value = node['default'];
  const unknown = isObject(value) ? prune({ type: 'object', properties: { value: schema } }, { value }).unknown : [];
  return [
    ...validateNode(schema, value, `${path}.default`),
    ...unknown.map((field) => invalidCause(`${path}.default`, value, `must not have unknown fields: ${field.replace(/^value\.?/, '')}`)),
  ];
}

function logicCauses(node: JsonObject, path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  for (const operator of ['allOf', 'anyOf', 'oneOf']) {
    const alternatives = node[operator];
    if (!Array.isArray(alternatives) || isIntOrString(node, operator)) continue;
    for (const [index, item] of alternatives.filter(isObject).entries())
      causes.push(...restrictionCauses(item, `${path}.${operator}[${index}]`));
  }
  if (isObject(node['not'])) causes.push(...restrictionCauses(node['not'], `${path}.not`));
  return causes;
}

/** The one exception: `anyOf: [integer, string]` is how older tools write int-or-string. */
function isIntOrString(node: JsonObject, operator: string): boolean {
  if (node['x-kubernetes-int-or-string'] !== true) return false;
  const text = JSON.stringify(node[operator]);
  return operator === 'anyOf'
    ? text === '[{"type":"integer"},{"type":"string"}]'
    : text.startsWith('[{"anyOf":[{"type":"integer"},{"type":"string"}]}');
}

function restrictionCauses(node: JsonObject, path: string): StatusCause[] {
  const causes = SHAPE.filter((key) => node[key] !== undefined).map((key) =>
    forbiddenCause(`${path}.${key}`, 'must be empty to be structural'),
  );
  causes.push(...refusedCauses(node, path), ...logicCauses(node, path));
  if (isObject(node['items'])) causes.push(...restrictionCauses(node['items'], `${path}.items`));
  for (const [key, child] of Object.entries(mapOf(node['properties']))) {
    if (isObject(child)) causes.push(...restrictionCauses(child, `${path}.properties[${key}]`));
  }
  return causes;
}

function childCauses(node: JsonObject, path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  for (const [key, child] of Object.entries(mapOf(node['properties']))) {
    if (isObject(child)) causes.push(...nodeCauses(child, `${path}.properties[${key}]`, 'object fields'));
  }
  const { items, additionalProperties } = node;
  if (isObject(items)) causes.push(...nodeCauses(items, `${path}.items`, 'array items'));
  if (isObject(additionalProperties)) causes.push(...nodeCauses(additionalProperties, `${path}.additionalProperties`, 'object fields'));
  return causes;
}

function mapOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
