/** A Swagger 2.0 document as the protobuf message `openapi.v2.Document` of gnostic. The numbers are the field numbers of its messages. */
import { isObject, type JsonObject } from '../../../base/json.ts';
import { boolField, countField, doubleField, message, messageField, NOTHING, stringField, stringFields } from './protobuf.ts';

const METHODS: Readonly<Record<string, number>> = { get: 2, put: 3, post: 4, delete: 5, options: 6, head: 7, patch: 8 };

/** The bytes of the document. */
export function encodeDocument({ swagger, info, paths, definitions }: JsonObject): Uint8Array {
  const { title, version } = objectOf(info);
  return message(
    stringField(1, swagger),
    messageField(2, message(stringField(1, title), stringField(2, version))),
    messageField(8, named(2, paths, pathItem)),
    messageField(9, named(1, definitions, schema)),
  );
}

/** A map, which gnostic writes as a list of (name, value). */
function named(number: number, map: unknown, encode: (value: JsonObject) => Uint8Array): Uint8Array {
  const entries = Object.entries(objectOf(map));
  return message(
    ...entries.map(([name, value]) => messageField(number, message(stringField(1, name), messageField(2, encode(objectOf(value)))))),
  );
}

function pathItem(item: JsonObject): Uint8Array {
  const operations = Object.entries(METHODS).map(([method, number]) =>
    isObject(item[method]) ? messageField(number, operation(item[method])) : NOTHING,
  );
  return message(...operations, parameters(9, item['parameters']));
}

function operation(value: JsonObject): Uint8Array {
  const responses = named(1, value['responses'], (response) =>
    messageField(
      1,
      message(stringField(1, response['description']), messageField(2, messageField(1, schema(objectOf(response['schema']))))),
    ),
  );
  return message(
    stringField(5, value['operationId']),
    stringFields(6, value['produces']),
    stringFields(7, value['consumes']),
    parameters(8, value['parameters']),
    messageField(9, responses),
    extensions(13, value),
  );
}

function parameters(number: number, values: unknown): Uint8Array {
  const list = Array.isArray(values) ? values.filter(isObject) : [];
  return message(...list.map((value) => messageField(number, messageField(1, parameter(value)))));
}

function parameter(value: JsonObject): Uint8Array {
  const { name, required, type } = value;
  const where = value['in'];
  if (where === 'body') {
    const body = [stringField(2, name), stringField(3, where), boolField(4, required), messageField(5, schema(objectOf(value['schema'])))];
    return messageField(1, message(...body));
  }
  const common = [boolField(1, required), stringField(2, where), stringField(4, name)];
  const isPath = where === 'path';
  return messageField(2, messageField(isPath ? 4 : 3, message(...common, stringField(isPath ? 5 : 6, type))));
}

function schema(node: JsonObject): Uint8Array {
  const { type, items, properties, additionalProperties } = node;
  return message(
    stringField(1, node['$ref']),
    stringField(2, node['format']),
    stringField(4, node['description']),
    limits(node),
    stringFields(19, node['required']),
    message(...(Array.isArray(node['enum']) ? node['enum'] : []).map((value) => messageField(20, any(value)))),
    isObject(additionalProperties) ? messageField(21, messageField(1, schema(additionalProperties))) : NOTHING,
    typeof type === 'string' ? messageField(22, stringField(1, type)) : NOTHING,
    isObject(items) ? messageField(23, messageField(1, schema(items))) : NOTHING,
    isObject(properties) ? messageField(25, named(1, properties, schema)) : NOTHING,
    extensions(31, node),
  );
}

function limits(node: JsonObject): Uint8Array {
  return message(
    doubleField(6, node['multipleOf']),
    doubleField(7, node['maximum']),
    boolField(8, node['exclusiveMaximum']),
    doubleField(9, node['minimum']),
    boolField(10, node['exclusiveMinimum']),
    countField(11, node['maxLength']),
    countField(12, node['minLength']),
    stringField(13, node['pattern']),
    countField(14, node['maxItems']),
    countField(15, node['minItems']),
    countField(17, node['maxProperties']),
    countField(18, node['minProperties']),
  );
}

function extensions(number: number, node: JsonObject): Uint8Array {
  const own = Object.entries(node).filter(([key]) => key.startsWith('x-'));
  return message(...own.map(([key, value]) => messageField(number, message(stringField(1, key), messageField(2, any(value))))));
}

/** Anything travels as YAML text, and JSON is YAML. */
function any(value: unknown): Uint8Array {
  return stringField(2, `${JSON.stringify(value)}\n`);
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
