import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isObject } from '../../base/json.ts';
import type { StructuralSchema } from '../schema/crd.ts';
import { CRDS } from './crds.ts';

const ALLOWED = new Set([
  ...['type', 'description', 'properties', 'required', 'items', 'additionalProperties', 'enum', 'format', 'pattern', 'default', 'nullable'],
  ...['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'anyOf'],
  ...['x-kubernetes-int-or-string', 'x-kubernetes-preserve-unknown-fields', 'x-kubernetes-list-type', 'x-kubernetes-list-map-keys'],
]);

/** Everything in which the schema is not structural, by the rules a real API server has. */
function problemsOf(schema: StructuralSchema, path: string): string[] {
  const problems = Object.keys(schema)
    .filter((keyword) => !ALLOWED.has(keyword))
    .map((keyword) => `${path}: ${keyword}`);
  const isIntOrString = schema['x-kubernetes-int-or-string'] === true;
  if (typeof schema['type'] !== 'string' && !isIntOrString) problems.push(`${path}: no type`);
  if (isIntOrString && schema['type'] !== undefined) problems.push(`${path}: a type beside int-or-string`);
  if (schema['anyOf'] && !isIntOrString) problems.push(`${path}: anyOf`);
  if (schema['properties'] && schema['additionalProperties']) problems.push(`${path}: both kinds of properties`);
  if (!schema['description'] && !/metadata$|\.items$/.test(path)) problems.push(`${path}: no description`);
  const { properties, items, additionalProperties } = schema;
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  for (const name of required) if (!isObject(properties) || !(name in properties)) problems.push(`${path}: requires unknown ${name}`);
  problems.push(...listProblems(schema, path));
  const children: [string, unknown][] = [
    ...Object.entries(isObject(properties) ? properties : {}),
    ['items', items],
    ['*', additionalProperties],
  ];
  for (const [name, child] of children) if (isObject(child)) problems.push(...problemsOf(child, `${path}.${name}`));
  return problems;
}

/** The keys of a list-as-map must be scalars that every item has. */
function listProblems({ items, ...schema }: StructuralSchema, path: string): string[] {
  const keys = schema['x-kubernetes-list-map-keys'];
  if (schema['type'] === 'array' && !isObject(items)) return [`${path}: no items`];
  if (!Array.isArray(keys) || !isObject(items)) return [];
  const required = Array.isArray(items['required']) ? items['required'] : [];
  return keys.filter((key) => !required.includes(key)).map((key) => `${path}: key ${key} is not required`);
}

describe('CRDS', () => {
  for (const crd of CRDS) {
    test(`${crd.metadata.name} is structural in every version`, () => {
      assert.deepEqual(
        crd.spec.versions.flatMap(({ name, schema }) => problemsOf(schema.openAPIV3Schema, name)),
        [],
      );
    });
  }

  test('names and versions are the published ones', () => {
    assert.deepEqual(
      CRDS.map(({ metadata, spec }) => [metadata.name, spec.names.shortNames, spec.versions.map(({ name, storage }) => [name, storage])]),
      [
        [
          'virtualmachines.kubevirt.io',
          ['vm', 'vms'],
          [
            ['v1', true],
            ['v1alpha3', false],
            ['v1alpha2', false],
          ],
        ],
        [
          'virtualmachineinstances.kubevirt.io',
          ['vmi', 'vmis'],
          [
            ['v1', true],
            ['v1alpha3', false],
            ['v1alpha2', false],
          ],
        ],
      ],
    );
  });

  test('only VirtualMachine has a status subresource', () => {
    assert.deepEqual(
      CRDS.map(({ spec }) => spec.versions.every(({ subresources }) => subresources?.status !== undefined)),
      [true, false],
    );
  });

  test('a VM is listed with age, status, volume and readiness', () => {
    assert.deepEqual(
      CRDS[0]?.spec.versions[0]?.additionalPrinterColumns?.map(({ name }) => name),
      ['Age', 'Status', 'Volume', 'Ready'],
    );
  });
});
