import assert from 'node:assert/strict';
import { test } from 'node:test';
import { causeText } from '../../../base/causes.ts';
import type { JsonObject } from '../../../base/json.ts';
import { validateCrd } from './validate-crd-schema.ts';

const PATH = 'spec.versions[0].schema.openAPIV3Schema';
const version = (schema: unknown, rest: JsonObject = {}) => ({
  name: 'v1',
  served: true,
  storage: true,
  schema: { openAPIV3Schema: schema },
  ...rest,
});
const crd = (spec: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  metadata: { name: 'widgets.example.com', ...metadata },
  spec: { group: 'example.com', names: { plural: 'widgets', kind: 'Widget' }, versions: [version({ type: 'object' })], ...spec },
});
const textsFor = (properties: JsonObject) => validateCrd(crd({ versions: [version({ type: 'object', properties })] })).map(causeText);

test('a plain definition is fine', () => assert.deepEqual(validateCrd(crd({})), []));

test('the name is plural and group, the plural is lower case', () => {
  assert.deepEqual(
    validateCrd(crd({ names: { plural: 'Widgets', kind: 'Widget' } }))
      .map(causeText)
      .map((text) => text.slice(0, 60)),
    ['metadata.name: Invalid value: "widgets.example.com": must be', 'spec.names.plural: Invalid value: "Widgets": a DNS-1035 labe'],
  );
});

test('a definition needs a plural and a kind', () => {
  assert.deepEqual(validateCrd(crd({ names: { plural: '' } })).map(causeText), [
    'spec.names.plural: Required value',
    'spec.names.kind: Required value',
  ]);
});

test('exactly one version is stored, and no name comes twice', () => {
  const versions = [version({ type: 'object' }), version({ type: 'object' })];
  assert.deepEqual(validateCrd(crd({ versions })).map(causeText), [
    'spec.versions[1].name: Duplicate value: "v1"',
    'spec.versions: Invalid value: ["v1","v1"]: must have exactly one version marked as storage version',
  ]);
});

test('every version has a schema', () => {
  assert.deepEqual(validateCrd(crd({ versions: [version(undefined)] })).map(causeText), [`${PATH}: Required value: schemas are required`]);
});

test('groups of the Kubernetes project need their approval', () => {
  const group = 'x.k8s.io';
  const refused = validateCrd(crd({ group }, { name: `widgets.${group}` }));
  assert.deepEqual(
    refused.map(({ field }) => field),
    ['metadata.annotations[api-approved.kubernetes.io]'],
  );
  assert.deepEqual(
    validateCrd(crd({ group }, { name: `widgets.${group}`, annotations: { 'api-approved.kubernetes.io': 'unapproved' } })),
    [],
  );
});

const BROKEN: readonly (readonly [string, JsonObject, string])[] = [
  ['a field without a type', { a: {} }, 'properties[a].type: Required value: must not be empty for specified object fields'],
  [
    'items without a type',
    { a: { type: 'array', items: {} } },
    'properties[a].items.type: Required value: must not be empty for specified array items',
  ],
  ['a list without items', { a: { type: 'array' } }, 'properties[a].items: Required value: must be specified'],
  ['a reference', { a: { type: 'string', $ref: '#/x' } }, 'properties[a].$ref: Forbidden: $ref is not supported'],
  [
    'additionalProperties false',
    { a: { type: 'object', additionalProperties: false } },
    'properties[a].additionalProperties: Forbidden: additionalProperties cannot be set to false',
  ],
  [
    'a type inside anyOf',
    { a: { type: 'string', anyOf: [{ type: 'string' }] } },
    'properties[a].anyOf[0].type: Forbidden: must be empty to be structural',
  ],
  [
    'a default that breaks its own rules',
    { a: { type: 'integer', maximum: 1, default: 2 } },
    `properties[a].default: Invalid value: 2: ${PATH}.properties[a].default in body should be less than or equal to 1`,
  ],
  [
    'a default with unknown fields',
    { a: { type: 'object', default: { b: 1 } } },
    'properties[a].default: Invalid value: {"b":1}: must not have unknown fields: b',
  ],
  [
    'rules about metadata',
    { metadata: { type: 'object', properties: { labels: { type: 'object' } } } },
    'properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
  ],
];

for (const [what, properties, text] of BROKEN) {
  test(`refuses ${what}`, () => assert.deepEqual(textsFor(properties), [`${PATH}.${text}`]));
}

test('refuses a pattern that does not compile', () => {
  assert.match(
    textsFor({ a: { type: 'string', pattern: '(' } })[0] ?? '',
    /properties\[a\]\.pattern: Invalid value: "\(": must be a valid regular expression/,
  );
});

test('the keys of a list map must be certain', () => {
  const list = (items: JsonObject) => ({
    a: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'], items },
  });
  const properties = { name: { type: 'string' } };
  assert.equal(textsFor(list({ type: 'object', properties })).length, 1);
  assert.deepEqual(textsFor(list({ type: 'object', properties, required: ['name'] })), []);
});

test('int-or-string and free nodes need no type', () => {
  const amount = { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }], pattern: '^[0-9]+$' };
  assert.deepEqual(textsFor({ amount, free: { 'x-kubernetes-preserve-unknown-fields': true } }), []);
});
