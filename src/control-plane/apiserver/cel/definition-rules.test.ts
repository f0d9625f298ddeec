import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../api/meta.ts';
import type { Resource } from '../../../api/resource.ts';
import { isApiError } from '../../../base/errors.ts';
import type { Schema, ValidationRule } from '../schema/schema.ts';
import { startTestServer } from '../test-server.testing.ts';
import type { Crd } from '../types/custom-resource-types.ts';
import { definitionRuleCauses } from './definition-rules.ts';

const AT = 'spec.versions[0].schema.openAPIV3Schema.properties[spec].x-kubernetes-validations[0]';

const REFUSED: Readonly<Record<string, readonly [rule: Partial<ValidationRule>, causes: readonly string[]]>> = {
  'no rule': [{ rule: ' ' }, ['rule: Required value: rule is not specified']],
  'a rule that is no expression': [{ rule: 'self.' }, ['rule: Invalid value: "self.": compilation failed: Expected IDENTIFIER, got EOF']],
  'a field that the schema does not have': [
    { rule: 'self.nothing == 1' },
    ['rule: Invalid value: "self.nothing == 1": compilation failed: no such key: nothing'],
  ],
  'a type that does not fit': [
    { rule: "self.size == 'x'" },
    [`rule: Invalid value: "self.size == 'x'": compilation failed: no such overload: int == string`],
  ],
  'a function that there is not': [
    { rule: 'isSemver(self.name)' },
    ['rule: Invalid value: "isSemver(self.name)": compilation failed: found no matching overload for \'isSemver(string)\''],
  ],
  'a rule that is no bool': [{ rule: 'self.size' }, ['rule: Invalid value: "self.size": compilation failed: must evaluate to a bool']],
  'a messageExpression that is no string': [
    { rule: 'self.size > 1', messageExpression: 'self.size' },
    ['messageExpression: Invalid value: "self.size": messageExpression compilation failed: must evaluate to a string'],
  ],
  'a message of two lines': [
    { rule: 'self.size > 1', message: 'a\nb' },
    ['message: Invalid value: "a\\nb": message must not contain line breaks'],
  ],
  'a rule of two lines without a message': [
    { rule: 'self.size > 1 &&\nself.size < 9' },
    ['message: Required value: message must be specified if rule contains line breaks'],
  ],
  'a reason that there is not': [
    { rule: 'self.size > 1', reason: 'Teapot' },
    [
      'reason: Unsupported value: "Teapot": supported values: "FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"',
    ],
  ],
  'a fieldPath that leads nowhere': [
    { rule: 'self.size > 1', fieldPath: '.nothing' },
    ['fieldPath: Invalid value: ".nothing": fieldPath must be a valid path'],
  ],
  'optionalOldSelf without oldSelf': [
    { rule: 'self.size > 1', optionalOldSelf: true },
    ['optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule'],
  ],
};
for (const [name, [rule, causes]] of Object.entries(REFUSED)) {
  test(`a definition is refused for ${name}`, () => {
    const found = definitionRuleCauses(definition({ 'x-kubernetes-validations': [rule as ValidationRule] }), undefined);
    assert.deepEqual(
      found.map(({ field, message }) => `${field.replace(`${AT}.`, '')}: ${message}`),
      causes,
    );
  });
}

test('a rule may speak of every field of the schema, by the names of Kubernetes', () => {
  const rules = [
    'self.size > 1',
    "self.a__dash__b == 'x'",
    "self.?name.orValue('') != ''",
    'self.tags.all(t, t.size() < 9)',
    'has(self.name)',
    'self.size >= oldSelf.size',
  ];
  assert.deepEqual(definitionRuleCauses(definition({ 'x-kubernetes-validations': rules.map((rule) => ({ rule })) }), undefined), []);
});

test('oldSelf below a list whose items have no keys is refused', () => {
  const items: Schema = { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] };
  const [cause, ...more] = definitionRuleCauses(definition({ properties: { tags: { type: 'array', items } } }), undefined);
  assert.match(cause?.message ?? '', /oldSelf cannot be used on the uncorrelatable portion of the schema within .*properties\[tags\]$/);
  assert.deepEqual(more, []);
});

test('a definition has a thousand rules at most', () => {
  const rules = new Array<ValidationRule>(1_001).fill({ rule: 'true' });
  const found = definitionRuleCauses(definition({ 'x-kubernetes-validations': rules }), undefined);
  assert.deepEqual(
    found.map(({ message }) => message),
    ['Forbidden: a definition must not have more than 1000 rules'],
  );
});

test('the rules of a definition have 256 KiB at most', () => {
  const rules = new Array<ValidationRule>(20).fill({ rule: `'${'a'.repeat(16_000)}' != ''` });
  const found = definitionRuleCauses(definition({ 'x-kubernetes-validations': rules }), undefined);
  assert.deepEqual(
    found.map(({ message }) => message),
    ['Forbidden: the rules of a definition must not have more than 262144 characters'],
  );
});

test('rules that were stored before they were checked do not hinder other changes of their definition', () => {
  const old = definition({ 'x-kubernetes-validations': [{ rule: 'isSemver(self.name)' }] });
  assert.deepEqual(definitionRuleCauses(old, old), []);
});

type Widget = KubeObject & { readonly kind: 'Widget'; readonly spec: { readonly size: number } };
const WIDGETS: Resource<Widget> = { group: 'example.com', version: 'v1', plural: 'widgets', kind: 'Widget', isNamespaced: true };
const CRDS: Resource<Crd & KubeObject> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  isNamespaced: false,
};
const A = { namespace: 'default', name: 'a' };

test('the server holds writes against the rules of their definition', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  const rules = [
    { rule: 'self.size > 0', message: 'a widget has a size', fieldPath: '.size' },
    { rule: 'self.size >= oldSelf.size', message: 'a widget does not shrink' },
  ];
  const broken = definition({ 'x-kubernetes-validations': [{ rule: 'isSemver(self.name)' }] });
  await assert.rejects(
    client.create(CRDS, broken as Crd & KubeObject),
    (error) => isApiError(error, 'Invalid') && /compilation failed/.test(error.message),
  );
  await client.create(CRDS, definition({ 'x-kubernetes-validations': rules }) as Crd & KubeObject);
  const widget = (size: number): Widget => ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: A, spec: { size } });
  await assert.rejects(client.create(WIDGETS, widget(0)), {
    code: 422,
    message: 'Widget.example.com "a" is invalid: spec.size: Invalid value: "object": a widget has a size',
  });
  const stored = await client.create(WIDGETS, widget(5));
  await assert.rejects(client.update(WIDGETS, { ...stored, spec: { size: 4 } }), {
    code: 422,
    message: 'Widget.example.com "a" is invalid: spec: Invalid value: "object": a widget does not shrink',
  });
  assert.equal((await client.update(WIDGETS, { ...stored, spec: { size: 6 } })).spec.size, 6);
});

function definition(spec: Partial<Schema>): Crd {
  const properties: Schema['properties'] = {
    size: { type: 'integer' },
    name: { type: 'string' },
    'a-b': { type: 'string' },
    tags: { type: 'array', items: { type: 'string' } },
  };
  const openAPIV3Schema: Schema = { type: 'object', properties: { spec: { type: 'object', properties, ...spec } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  } as Crd; // what its type has besides is filled in by the server
}
