/** Turns the schemas of served kinds into `components.schemas`: shared definitions are written once and referred to. */
import { isObject, type JsonObject } from '../../../base/json.ts';
import { definitionOf } from '../schema/built-in.ts';
import { asResource } from '../schema/resource-root.ts';
import type { Schema } from '../schema/schema.ts';
import type { OpenApiResource } from './resource.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
/** Definitions every document refers to. */
export const STATUS = `${META}.Status`;
export const DELETE_OPTIONS = `${META}.DeleteOptions`;
export const PATCH = `${META}.Patch`;
export const SCALE = 'io.k8s.api.autoscaling.v1.Scale';
const LIST_META = `${META}.ListMeta`;
/** Parts of a node that hold other nodes, and parts that are ours alone. */
const NOT_COPIED = new Set([
  'properties',
  'items',
  'additionalProperties',
  'definition',
  'deriveDefaults',
  'isStruct',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
]);

/** The schemas of these kinds, their lists and everything they refer to, by name. */
export function componentSchemas(resources: readonly OpenApiResource[]): JsonObject {
  const waiting = new Set([STATUS, DELETE_OPTIONS, LIST_META]);
  const result: JsonObject = { [PATCH]: { type: 'object' } };
  for (const resource of resources) {
    const { group, version, kind } = resource;
    const name = schemaName(resource);
    result[name] = {
      ...bodyOf(asResource(resource.schema), waiting),
      'x-kubernetes-group-version-kind': [{ group, version, kind }],
    };
    result[`${name}List`] = listSchema(resource);
    if (resource.subresources.includes('scale')) waiting.add(SCALE);
  }
  // A Set yields what is added while it is walked.
  for (const name of waiting) result[name] ??= bodyOf(definitionOf(name), waiting);
  return result;
}

/** The name of a kind's schema: the published one, or group in reverse, version, kind. */
export function schemaName({ group, version, kind, schema }: OpenApiResource): string {
  return schema.definition ?? [...group.split('.').reverse(), version, kind].join('.');
}

/** A reference to a schema of the same document. */
export function refTo(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

function listSchema(resource: OpenApiResource): JsonObject {
  const { group, version, kind } = resource;
  return {
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: { type: 'string' },
      items: { type: 'array', items: refTo(schemaName(resource)) },
      kind: { type: 'string' },
      metadata: refTo(LIST_META),
    },
    'x-kubernetes-group-version-kind': [{ group, version, kind: `${kind}List` }],
  };
}

/** A node where it is used: a reference when it stands for a shared definition, with whatever the place adds to it. */
function nodeOf(schema: Schema, waiting: Set<string>): JsonObject {
  const { definition } = schema;
  if (definition === undefined) return bodyOf(schema['x-kubernetes-embedded-resource'] ? asResource(schema) : schema, waiting);
  waiting.add(definition);
  const shared: JsonObject = { ...definitionOf(definition) };
  const added = Object.entries(schema).filter(([key, value]) => !NOT_COPIED.has(key) && shared[key] !== value);
  return added.length === 0 ? refTo(definition) : { allOf: [refTo(definition)], ...Object.fromEntries(added) };
}

function bodyOf(schema: Schema, waiting: Set<string>): JsonObject {
  const result: JsonObject = Object.fromEntries(Object.entries(schema).filter(([key]) => !NOT_COPIED.has(key)));
  const { properties, items, additionalProperties, allOf, anyOf, oneOf, not } = schema;
  if (properties) {
    result['properties'] = Object.fromEntries(Object.entries(properties).map(([key, child]) => [key, nodeOf(child, waiting)]));
  }
  if (items) result['items'] = nodeOf(items, waiting);
  if (additionalProperties !== undefined) {
    result['additionalProperties'] = isObject(additionalProperties) ? nodeOf(additionalProperties, waiting) : additionalProperties;
  }
  for (const [operator, alternatives] of Object.entries({ allOf, anyOf, oneOf })) {
    if (alternatives) result[operator] = alternatives.map((child) => nodeOf(child, waiting));
  }
  if (not) result['not'] = nodeOf(not, waiting);
  return result;
}
