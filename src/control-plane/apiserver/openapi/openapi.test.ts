import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../base/json.ts';
import { builtInSchema } from '../schema/built-in.ts';
import { messagesAt, textsAt } from './protobuf.testing.ts';
import { openApiV2, openApiV2Protobuf } from './v2.ts';
import { type OpenApiResource, openApiV3Document } from './v3.ts';

const widget: OpenApiResource = {
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
  subresources: ['status', 'scale'],
  isBuiltIn: false,
  schema: {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        required: ['size'],
        properties: {
          size: { type: 'integer', minimum: 1, default: 1 },
          port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
          free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { known: { type: 'string' } } },
          when: { type: 'string', nullable: true },
        },
      },
    },
  },
};
const pod: OpenApiResource = {
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  namespaced: true,
  subresources: ['status', 'scale'],
  isBuiltIn: true,
  schema: builtInSchema('', 'v1', 'Pod')!,
};

/** Walks into a document; the keys are what the test states. */
function inside(value: unknown, ...keys: string[]): unknown {
  return keys.reduce((item, key) => (item as JsonObject | undefined)?.[key], value);
}

test('a patch operation says what kubectl looks for, and CRDs take no strategic merge', () => {
  const patchOf = (resource: OpenApiResource, path: string) =>
    inside(openApiV3Document('x', [resource]), 'paths', path, 'patch') as JsonObject;
  const patch = patchOf(widget, '/apis/example.com/v1/namespaces/{namespace}/widgets/{name}');
  assert.equal(patch['x-kubernetes-action'], 'patch');
  assert.deepEqual(patch['x-kubernetes-group-version-kind'], { group: 'example.com', version: 'v1', kind: 'Widget' });
  const names = (patch['parameters'] as JsonObject[]).map(({ name }) => name);
  assert.deepEqual(names, ['dryRun', 'fieldManager', 'fieldValidation', 'force']);
  const types = (operation: JsonObject) => Object.keys(inside(operation, 'requestBody', 'content') as JsonObject);
  assert.deepEqual(types(patch), ['application/apply-patch+yaml', 'application/json-patch+json', 'application/merge-patch+json']);
  assert.ok(types(patchOf(pod, '/api/v1/namespaces/{namespace}/pods/{name}')).includes('application/strategic-merge-patch+json'));
});

test('every reference of a document leads to a schema in it', () => {
  const document = openApiV3Document('api/v1', [pod, widget]);
  const schemas = inside(document, 'components', 'schemas') as JsonObject;
  const names = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name ?? '');
  assert.deepEqual(
    [...new Set(names)].filter((name) => !Object.hasOwn(schemas, name)),
    [],
  );
  assert.deepEqual(
    Object.keys(schemas)
      .filter((name) => /ObjectMeta$|PodSpec$|Pod$|PodList$|WidgetList$/.test(name))
      .sort(),
    [
      'com.example.v1.WidgetList',
      'io.k8s.api.core.v1.Pod',
      'io.k8s.api.core.v1.PodList',
      'io.k8s.api.core.v1.PodSpec',
      'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
    ],
  );
});

test('what stands beside a reference is kept', () => {
  const schemas = inside(openApiV3Document('api/v1', [pod]), 'components', 'schemas') as JsonObject;
  assert.deepEqual(inside(schemas, 'io.k8s.api.core.v1.Pod', 'properties', 'status'), {
    allOf: [{ $ref: '#/components/schemas/io.k8s.api.core.v1.PodStatus' }],
    default: {},
  });
  assert.equal(inside(schemas, 'io.k8s.api.core.v1.PodSpec', 'properties', 'containers', 'x-kubernetes-patch-merge-key'), 'name');
});

test('v2 leaves out what it cannot say', () => {
  const spec = inside(openApiV2([widget]), 'definitions', 'com.example.v1.Widget', 'properties', 'spec', 'properties');
  assert.deepEqual(spec, {
    size: { type: 'integer', minimum: 1 },
    port: { type: 'string', format: 'int-or-string', 'x-kubernetes-int-or-string': true },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    when: { type: 'string' },
  });
});

test('the protobuf form holds the same definitions', () => {
  const document = openApiV2Protobuf([pod, widget]);
  assert.deepEqual(textsAt(document, 1), ['2.0']);
  const definitions = messagesAt(document, 9).flatMap((all) => messagesAt(all, 1));
  const byName = new Map(definitions.map((entry) => [textsAt(entry, 1)[0], messagesAt(entry, 2)[0]!]));
  assert.deepEqual([...byName.keys()].sort(), Object.keys(openApiV2([pod, widget])['definitions'] as JsonObject).sort());

  const root = byName.get('com.example.v1.Widget')!;
  const extension = messagesAt(root, 31)[0]!;
  assert.deepEqual(textsAt(extension, 1), ['x-kubernetes-group-version-kind']);
  assert.deepEqual(textsAt(messagesAt(extension, 2)[0]!, 2), ['[{"group":"example.com","version":"v1","kind":"Widget"}]\n']);
  const properties = messagesAt(messagesAt(root, 25)[0]!, 1);
  assert.deepEqual(
    properties.map((property) => textsAt(property, 1)[0]),
    ['apiVersion', 'kind', 'spec', 'metadata'],
  );
  const metadata = messagesAt(properties[3]!, 2)[0]!;
  assert.deepEqual(textsAt(metadata, 1), ['#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta']);
});

test('status has the shape of the whole, scale is a kind of its own', () => {
  const { paths, components } = openApiV3Document('apis/example.com/v1', [widget]) as {
    paths: Record<string, Record<string, Record<string, unknown>>>;
    components: { schemas: Record<string, unknown> };
  };
  const at = (end: string) => Object.entries(paths).find(([path]) => path.endsWith(end))?.[1]?.['put'];
  assert.equal((at('/{name}/status')?.['x-kubernetes-group-version-kind'] as { kind: string } | undefined)?.kind, 'Widget');
  assert.deepEqual(at('/{name}/scale')?.['x-kubernetes-group-version-kind'], { group: 'autoscaling', version: 'v1', kind: 'Scale' });
  assert.ok(components.schemas['io.k8s.api.autoscaling.v1.Scale']);
});
