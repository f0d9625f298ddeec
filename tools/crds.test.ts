import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PUBLISHED_KINDS } from '../src/api/kubevirt/generated/published-types.ts';
import type { StructuralSchema } from '../src/api/schema/structural.ts';
import { isObject } from '../src/base/json.ts';
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
  if (typeof schema['type'] !== 'string' && !isIntOrString && schema['x-kubernetes-preserve-unknown-fields'] !== true)
    problems.push(`${path}: no type`);
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

  test('names, versions and subresources that people have in their manifests stay', () => {
    const kept = [
      ['virtualmachines.kubevirt.io', 'vm,vms', 'v1,v1alpha3,v1alpha2', 'status'],
      ['virtualmachineinstances.kubevirt.io', 'vmi,vmis', 'v1,v1alpha3,v1alpha2', ''],
      ['virtualmachineinstancereplicasets.kubevirt.io', 'vmirs,vmirss', 'v1,v1alpha3', 'status,scale'],
      ['offlinevirtualmachines.kubevirt.io', 'ovm,ovms', 'v1alpha1', 'status'],
      ['virtualmachineinstanceconfigs.kubevirt.io', 'vmic,vmics', 'v1alpha2', ''],
      ['kubevirts.kubevirt.io', 'kv,kvs', 'v1', 'status'],
    ];
    const lines = CRDS.map(({ metadata, spec: { names, versions } }) => [
      metadata.name,
      names.shortNames.join(),
      versions.map(({ name }) => name).join(),
      Object.keys(versions[0]?.subresources ?? {}).join(),
    ]);
    assert.deepEqual(
      lines.filter(([name]) => kept.some(([each]) => each === name)),
      kept,
    );
  });

  test('the first version is stored', () => {
    for (const { spec } of CRDS)
      assert.equal(
        spec.versions.findIndex(({ storage }) => storage),
        0,
      );
  });

  test('a kind that KubeVirt publishes is in the group where it is published', () => {
    const published = CRDS.filter(({ spec }) => spec.names.kind in PUBLISHED_KINDS);
    assert.deepEqual(
      published.map(({ spec }) => spec.group),
      published.map(({ spec }) => PUBLISHED_KINDS[spec.names.kind]),
    );
  });

  test('a configuration has no status at all', () => {
    const schema = CRDS.find(({ spec }) => spec.names.kind === 'VirtualMachineInstanceConfig')?.spec.versions[0]?.schema.openAPIV3Schema;
    assert.deepEqual(Object.keys(schema?.['properties'] ?? {}), ['apiVersion', 'kind', 'metadata', 'spec']);
  });

  test('a VM is listed with age, status, volume and readiness', () => {
    assert.deepEqual(
      CRDS[0]?.spec.versions[0]?.additionalPrinterColumns?.map(({ name }) => name),
      ['Age', 'Status', 'Volume', 'Ready'],
    );
  });
});
