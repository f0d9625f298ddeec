/**
 * OpenAPI v2 (Swagger 2.0) for kubectl up to 1.28, derived from v3. What v2 cannot say is left out:
 * alternatives, null and defaults; what is under a node that keeps unknown fields; an int-or-string is a string with that format.
 */
import { isObject, type JsonObject } from '../../../base/json.ts';
import type { OpenApiResource } from './resource.ts';
import { encodeDocument } from './v2-protobuf.ts';
import { openApiV3Document } from './v3.ts';

const V3_REFERENCE = '#/components/schemas/';
const DROPPED = new Set([
  'nullable',
  'default',
  'oneOf',
  'anyOf',
  'allOf',
  'not',
  'properties',
  'items',
  'additionalProperties',
  'format',
  'type',
]);

/** The JSON form of the document for all served resources. */
export function openApiV2(resources: readonly OpenApiResource[]): JsonObject {
  const { paths, components } = openApiV3Document('', resources);
  const schemas = objectOf(objectOf(components)['schemas']);
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: 'unversioned' },
    paths: mapValues(objectOf(paths), pathItem),
    definitions: mapValues(schemas, schemaOf),
  };
}

/** The form kubectl up to 1.28 asks for: the same document as a gnostic OpenAPIv2 message. */
export function openApiV2Protobuf(resources: readonly OpenApiResource[]): Uint8Array {
  return encodeDocument(openApiV2(resources));
}

function pathItem(item: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(item).map(([key, value]) => [key, key === 'parameters' ? listOf(value).map(parameter) : operation(objectOf(value))]),
  );
}

function operation({ requestBody, parameters, responses, ...rest }: JsonObject): JsonObject {
  const accepted = objectOf(objectOf(requestBody)['content']);
  const [body] = Object.values(accepted);
  const bodyParameter = { name: 'body', in: 'body', required: true, schema: schemaOf(objectOf(objectOf(body)['schema'])) };
  return {
    ...rest,
    consumes: body ? Object.keys(accepted) : ['*/*'],
    produces: ['application/json', 'application/yaml'],
    parameters: [...(body ? [bodyParameter] : []), ...listOf(parameters).map(parameter)],
    responses: mapValues(objectOf(responses), response),
  };
}

function parameter({ schema, ...rest }: JsonObject): JsonObject {
  return { ...rest, type: objectOf(schema)['type'] };
}

function response({ description, content }: JsonObject): JsonObject {
  const [first] = Object.values(objectOf(content));
  return { description, schema: schemaOf(objectOf(objectOf(first)['schema'])) };
}

function schemaOf(node: JsonObject): JsonObject {
  const reference = referenceOf(node);
  const rest = Object.fromEntries(Object.entries(node).filter(([key]) => !DROPPED.has(key) && key !== '$ref'));
  if (reference !== undefined) return { $ref: reference, ...extensionsOf(rest) };
  if (node['x-kubernetes-int-or-string'] === true) return { ...rest, type: 'string', format: 'int-or-string' };
  if (node['format'] === 'quantity') return { ...rest, type: 'string' };
  if (node['x-kubernetes-preserve-unknown-fields'] === true) return opaque(node, rest);
  return { ...rest, ...only(node, 'type'), ...only(node, 'format'), ...childrenOf(node) };
}

/** `allOf` with one reference is only a way to put something beside a reference. */
function referenceOf(node: JsonObject): string | undefined {
  const [first] = listOf(node['allOf']);
  const reference = node['$ref'] ?? first?.['$ref'];
  return typeof reference === 'string' ? reference.replace(V3_REFERENCE, '#/definitions/') : undefined;
}

function extensionsOf(node: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(node).filter(([key]) => key.startsWith('x-') || key === 'description'));
}

/** Old clients take what they see for everything there is, so nothing is shown of a node that may hold more. */
function opaque(node: JsonObject, { required: _, ...rest }: JsonObject): JsonObject {
  return { ...rest, ...only(node, 'type'), ...(node['type'] === 'array' && { items: {} }) };
}

function childrenOf(node: JsonObject): JsonObject {
  const { type, properties, items, additionalProperties } = node;
  return {
    ...(isObject(properties) && { properties: mapValues(properties, schemaOf) }),
    ...(type === 'array' && { items: schemaOf(objectOf(items)) }),
    ...(isObject(additionalProperties) && { additionalProperties: schemaOf(additionalProperties) }),
  };
}

function only(node: JsonObject, key: string): JsonObject {
  return node[key] === undefined ? {} : { [key]: node[key] };
}

function mapValues(value: JsonObject, change: (item: JsonObject) => JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, change(objectOf(item))]));
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
