import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Schema, ValidationRule } from '../schema/schema.ts';
import { ruleCauses } from './validation-rules.ts';

const invalid = (field: string, why: string) => ({ reason: 'FieldValueInvalid', message: `Invalid value: "object": ${why}`, field });

type Case = {
  readonly rules: readonly ValidationRule[];
  readonly spec: object;
  readonly old?: object;
  readonly expected: readonly object[];
};
const MIN_MAX = 'self.min <= self.max';
const BROKEN = { min: 2, max: 1 };

const CASES: Readonly<Record<string, Case>> = {
  'a rule that holds': { rules: [{ rule: MIN_MAX }], spec: { min: 1, max: 2 }, expected: [] },
  'a rule without a message': { rules: [{ rule: MIN_MAX }], spec: BROKEN, expected: [invalid('spec', `failed rule: ${MIN_MAX}`)] },
  'a message': { rules: [{ rule: MIN_MAX, message: ' max is too small ' }], spec: BROKEN, expected: [invalid('spec', 'max is too small')] },
  'a messageExpression': {
    rules: [{ rule: MIN_MAX, message: 'unused', messageExpression: "'max must be at least ' + string(self.min)" }],
    spec: BROKEN,
    expected: [invalid('spec', 'max must be at least 2')],
  },
  'a messageExpression that fails leaves it to the message': {
    rules: [{ rule: MIN_MAX, message: 'the message', messageExpression: 'self.missing' }],
    spec: BROKEN,
    expected: [invalid('spec', 'the message')],
  },
  'a messageExpression of two lines leaves it to the message': {
    rules: [{ rule: MIN_MAX, messageExpression: "'a\\nb'" }],
    spec: BROKEN,
    expected: [invalid('spec', `failed rule: ${MIN_MAX}`)],
  },
  'a fieldPath': { rules: [{ rule: MIN_MAX, message: 'no', fieldPath: '.max' }], spec: BROKEN, expected: [invalid('spec.max', 'no')] },
  'reason FieldValueForbidden': {
    rules: [{ rule: MIN_MAX, message: 'no', reason: 'FieldValueForbidden' }],
    spec: BROKEN,
    expected: [{ reason: 'FieldValueForbidden', message: 'Forbidden: no', field: 'spec' }],
  },
  'reason FieldValueRequired': {
    rules: [{ rule: 'has(self.name)', message: 'a name', reason: 'FieldValueRequired', fieldPath: '.name' }],
    spec: BROKEN,
    expected: [{ reason: 'FieldValueRequired', message: 'Required value: a name', field: 'spec.name' }],
  },
  'reason FieldValueDuplicate': {
    rules: [{ rule: MIN_MAX, reason: 'FieldValueDuplicate' }],
    spec: BROKEN,
    expected: [{ reason: 'FieldValueDuplicate', message: 'Duplicate value: "object"', field: 'spec' }],
  },
  'oldSelf is not looked at when there is none': { rules: [{ rule: 'self.min == oldSelf.min' }], spec: { min: 1 }, expected: [] },
  'oldSelf of a change': {
    rules: [{ rule: 'self.min == oldSelf.min', message: 'min is immutable' }],
    spec: { min: 2 },
    old: { min: 1 },
    expected: [invalid('spec', 'min is immutable')],
  },
  'optionalOldSelf is looked at on creation': {
    rules: [{ rule: 'oldSelf.hasValue() || self.min == 1', message: 'starts with 1', optionalOldSelf: true }],
    spec: { min: 2 },
    expected: [invalid('spec', 'starts with 1')],
  },
  'what was stored already is not held against the rules again': { rules: [{ rule: MIN_MAX }], spec: BROKEN, old: BROKEN, expected: [] },
  'a change is held against all rules': {
    rules: [{ rule: MIN_MAX, message: 'no' }],
    spec: BROKEN,
    old: { min: 3, max: 1 },
    expected: [invalid('spec', 'no')],
  },
  'a field that is not there': {
    rules: [{ rule: MIN_MAX }],
    spec: { min: 1 },
    expected: [invalid('spec', `no such key: max evaluating rule: ${MIN_MAX}`)],
  },
  'a rule that costs too much is the last one': {
    rules: [{ rule: 'self.items.all(a, self.items.all(b, a.size() + b.size() > 0))', message: 'unique' }, { rule: 'false' }],
    spec: { items: Array.from({ length: 1_000 }, (_, i) => `item-${i}`) },
    expected: [
      invalid(
        'spec',
        "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: unique",
      ),
    ],
  },
  'names that cannot be written': {
    rules: [{ rule: "self.a__dash__b == 'x' && self.__in__ == 1" }],
    spec: { 'a-b': 'x', in: 1 },
    expected: [],
  },
  'a field named constructor': { rules: [{ rule: "self.map['constructor'] == 'x'" }], spec: { map: { constructor: 'x' } }, expected: [] },
  'times and durations': {
    rules: [{ rule: "self.at < timestamp('2027-01-01T00:00:00Z') && self.every > duration('1m')" }],
    spec: { at: '2026-11-16T00:00:00Z', every: '1h' },
    expected: [],
  },
};

for (const [name, { rules, spec, old, expected }] of Object.entries(CASES)) {
  test(`rules of objects: ${name}`, () => {
    assert.deepEqual(ruleCauses(schemaWith(rules), { spec }, old && { spec: old }), expected);
  });
}

test('an item of a list by keys is compared with what it was, wherever it was', () => {
  const port: Schema = {
    type: 'object',
    properties: { name: { type: 'string' }, number: { type: 'integer' } },
    'x-kubernetes-validations': [{ rule: 'self.number >= oldSelf.number', message: 'may only grow' }],
  };
  const ports: Schema = { type: 'array', items: port, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] };
  const schema: Schema = { type: 'object', properties: { ports } };
  const old = {
    ports: [
      { name: 'a', number: 1 },
      { name: 'b', number: 5 },
    ],
  };
  const object = {
    ports: [
      { name: 'c', number: 0 },
      { name: 'b', number: 4 },
      { name: 'a', number: 2 },
    ],
  };
  assert.deepEqual(ruleCauses(schema, object, old), [invalid('ports[1]', 'may only grow')]);
});

test('a hundred broken rules are enough', () => {
  const items: Schema = { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 0' }] };
  const schema: Schema = { type: 'object', properties: { numbers: { type: 'array', items } } };
  assert.equal(ruleCauses(schema, { numbers: new Array(1_000).fill(0) }, undefined).length, 100);
});

function schemaWith(rules: readonly ValidationRule[]): Schema {
  const spec: Schema = {
    type: 'object',
    properties: {
      min: { type: 'integer' },
      max: { type: 'integer' },
      name: { type: 'string' },
      in: { type: 'integer' },
      'a-b': { type: 'string' },
      items: { type: 'array', items: { type: 'string' } },
      map: { type: 'object', additionalProperties: { type: 'string' } },
      at: { type: 'string', format: 'date-time' },
      every: { type: 'string', format: 'duration' },
    },
    'x-kubernetes-validations': rules,
  };
  return { type: 'object', properties: { spec } };
}
