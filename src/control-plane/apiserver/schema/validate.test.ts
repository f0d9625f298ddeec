import assert from 'node:assert/strict';
import { test } from 'node:test';
import { causesText, causeText } from '../../../base/causes.ts';
import { builtInSchema } from './built-in.ts';
import type { Schema } from './schema.ts';
import { validate } from './validate.ts';

const schema = (x: Schema, required: string[] = []): Schema => ({
  type: 'object',
  properties: { spec: { type: 'object', required, properties: { x } } },
});
const textsOf = (x: Schema, value: unknown) => validate(schema(x), { spec: { x: value } }).map(causeText);

const REFUSED: readonly (readonly [string, Schema, unknown, string])[] = [
  [
    'a number over its maximum',
    { type: 'integer', maximum: 100 },
    500,
    'Invalid value: 500: spec.x in body should be less than or equal to 100',
  ],
  [
    'an excluded maximum',
    { type: 'integer', maximum: 5, exclusiveMaximum: true },
    5,
    'Invalid value: 5: spec.x in body should be less than 5',
  ],
  [
    'a number under its minimum',
    { type: 'number', minimum: 1 },
    0.5,
    'Invalid value: 0.5: spec.x in body should be greater than or equal to 1',
  ],
  [
    'an excluded minimum',
    { type: 'number', minimum: 1, exclusiveMinimum: true },
    1,
    'Invalid value: 1: spec.x in body should be greater than 1',
  ],
  ['what is no multiple', { type: 'integer', multipleOf: 4 }, 6, 'Invalid value: 6: spec.x in body should be a multiple of 4'],
  [
    'an int32 that does not fit',
    { type: 'integer', format: 'int32' },
    2 ** 31,
    'Invalid value: 2147483648: spec.x in body should be less than or equal to 2147483647',
  ],
  ['another type', { type: 'integer' }, 'v', 'Invalid value: "string": spec.x in body must be of type integer: "string"'],
  ['a fraction for an integer', { type: 'integer' }, 1.5, 'Invalid value: "number": spec.x in body must be of type integer: "number"'],
  ['null', { type: 'string' }, null, 'Invalid value: "null": spec.x in body must be of type string: "null"'],
  ['an unknown word', { type: 'string', enum: ['a', 'b'] }, 'v', 'Unsupported value: "v": supported values: "a", "b"'],
  ['a short text', { type: 'string', minLength: 2 }, 'a', 'Invalid value: "a": spec.x in body should be at least 2 chars long'],
  ['a long text', { type: 'string', maxLength: 2 }, 'abc', 'Too long: may not be more than 2 bytes'],
  ['another pattern', { type: 'string', pattern: '^a+$' }, 'b', 'Invalid value: "b": spec.x in body should match \'^a+$\''],
  [
    'another format',
    { type: 'string', format: 'date-time' },
    'now',
    'Invalid value: "now": spec.x in body must be of type date-time: "now"',
  ],
  ['too few items', { type: 'array', minItems: 1 }, [], 'Invalid value: 0: spec.x in body should have at least 1 items'],
  ['too many items', { type: 'array', maxItems: 1 }, [1, 2], 'Too many: 2: must have at most 1 items'],
  [
    'an object for int-or-string',
    { 'x-kubernetes-int-or-string': true },
    {},
    'Invalid value: "object": spec.x in body must be of type integer,string: "object"',
  ],
  [
    'none of several',
    { oneOf: [{ type: 'string' }, { type: 'integer' }] },
    true,
    'Invalid value: "": "spec.x" must validate one and only one schema (oneOf). Found none valid',
  ],
  ['what must not be', { not: { enum: ['a'] } }, 'a', 'Invalid value: "": "spec.x" must not validate the schema (not)'],
];

for (const [what, rule, value, message] of REFUSED) {
  test(`a schema refuses ${what}`, () => assert.deepEqual(textsOf(rule, value), [`spec.x: ${message}`]));
}

const ACCEPTED: readonly (readonly [string, Schema, unknown])[] = [
  ['1.0 as an integer', { type: 'integer' }, 1.0],
  ['an integer as a number', { type: 'number' }, 1],
  ['null where it is nullable', { type: 'string', nullable: true }, null],
  ['characters outside the basic plane as one each', { type: 'string', maxLength: 2 }, '😀😀'],
  ['a pattern found anywhere', { type: 'string', pattern: 'b' }, 'abc'],
  ['an unknown format', { type: 'string', format: 'flavour' }, 'sweet'],
  ['either of int-or-string', { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }, '80'],
];

for (const [what, rule, value] of ACCEPTED) {
  test(`a schema takes ${what}`, () => assert.deepEqual(textsOf(rule, value), []));
}

test('every cause is reported, with path, reason and text', () => {
  const rule: Schema = { type: 'object', required: ['a', 'b'], properties: { c: { type: 'string' } } };
  assert.deepEqual(validate(schema({ type: 'array', items: rule }, ['y']), { spec: { x: [{ a: 1, c: 2 }] } }), [
    { field: 'spec.y', reason: 'FieldValueRequired', message: 'Required value' },
    { field: 'spec.x[0].b', reason: 'FieldValueRequired', message: 'Required value' },
    {
      field: 'spec.x[0].c',
      reason: 'FieldValueTypeInvalid',
      message: 'Invalid value: "integer": spec.x[0].c in body must be of type string: "integer"',
    },
  ]);
});

test('a set and a list map hold each item once', () => {
  const set: Schema = { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } };
  const map: Schema = { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'], items: { type: 'object' } };
  assert.deepEqual(textsOf(set, ['a', 'b', 'a']), ['spec.x[2]: Duplicate value: "a"']);
  assert.deepEqual(
    textsOf(map, [
      { name: 'a', v: 1 },
      { name: 'a', v: 2 },
    ]),
    ['spec.x[1]: Duplicate value: {"name":"a"}'],
  );
});

test('a pattern that would make a backtracking engine hang is quick', () => {
  const started = performance.now();
  assert.equal(textsOf({ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(5000)}!`).length, 1);
  assert.ok(performance.now() - started < 2000);
});

test('a CRD may restrict the name further', () => {
  const restricted: Schema = {
    type: 'object',
    properties: { metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 3 } } } },
  };
  assert.deepEqual(validate(restricted, { metadata: { name: 'long', labels: { a: 1 } } }).map(causeText), [
    'metadata.labels.a: Invalid value: "integer": metadata.labels.a in body must be of type string: "integer"',
    'metadata.name: Too long: may not be more than 3 bytes',
  ]);
});

test('several causes are put in brackets, one is not', () => {
  const [a, b] = [
    { reason: '', field: 'a', message: 'Required value' },
    { reason: '', field: 'b', message: 'Required value' },
  ];
  assert.equal(causesText([a]), 'a: Required value');
  assert.equal(causesText([a, b]), '[a: Required value, b: Required value]');
});

test('a pod without what it needs is refused by the names of the fields', () => {
  const pod = {
    metadata: { name: 'p' },
    spec: { restartPolicy: 'Sometimes', containers: [{ ports: [{}], resources: { limits: { cpu: 'much' } } }] },
  };
  assert.deepEqual(validate(builtInSchema('', 'v1', 'Pod')!, pod).map(causeText), [
    'spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"',
    'spec.containers[0].name: Required value',
    'spec.containers[0].image: Required value',
    'spec.containers[0].ports[0].containerPort: Required value',
    'spec.containers[0].resources.limits.cpu: Invalid value: "much": spec.containers[0].resources.limits.cpu in body must be of type quantity: "much"',
  ]);
});

test('top-level parts that are the very ones of what was stored are not looked at again, others are', () => {
  const rules: Schema = {
    type: 'object',
    required: ['spec'],
    properties: { spec: { type: 'object' }, status: { type: 'object', required: ['phase'] } },
  };
  const stored = { spec: 'of an older schema', status: { phase: 'Running' } };
  const texts = (value: object) => validate(rules, { ...value }, stored).map(({ field }) => field);
  assert.deepEqual(texts(stored), []);
  assert.deepEqual(texts({ ...stored, status: {} }), ['status.phase']);
  assert.deepEqual(texts({ ...stored, spec: [] }), ['spec']);
  assert.deepEqual(texts({ status: stored.status }), ['spec']);
});
