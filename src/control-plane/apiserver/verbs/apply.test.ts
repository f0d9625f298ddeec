import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONFIG_MAPS } from '../../../api/core/configmap.ts';
import { grant } from '../access/rights.testing.ts';
import { startTestServer, type TestServer } from '../test-server.testing.ts';
import type { AnyObject } from '../types/resource-type.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const map = (data: object, metadata: object = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', ...metadata }, data });

async function apply({ fetch }: TestServer, body: object, query: string, headers: Record<string, string> = {}) {
  const request = { method: 'PATCH', headers: { 'content-type': 'application/apply-patch+yaml', ...headers }, body: JSON.stringify(body) };
  const response = await fetch(`${MAPS}/a?${query}`, request);
  return { code: response.status, body: (await response.json()) as AnyObject & { message?: string; details?: { causes?: object[] } } };
}

const owners = (object: AnyObject) =>
  (object.metadata.managedFields ?? []).map(({ manager, operation, fieldsV1 }) => [manager, operation, fieldsV1]);

test('apply creates, and the same apply again makes no new revision', async (t) => {
  const server = await startTestServer();
  t.after(server.close);
  const first = await apply(server, map({ x: '1' }), 'fieldManager=me');
  assert.deepEqual([first.code, owners(first.body)], [201, [['me', 'Apply', { 'f:data': { 'f:x': {} } }]]]);
  const { revision } = server.store;
  const second = await apply(server, map({ x: '1' }), 'fieldManager=me');
  assert.deepEqual([second.code, second.body, server.store.revision], [200, first.body, revision]);
});

test("another value for somebody else's field is a conflict that names both, unless it is forced", async (t) => {
  const server = await startTestServer();
  t.after(server.close);
  await apply(server, map({ x: '1' }), 'fieldManager=one');
  const refused = await apply(server, map({ x: '2' }), 'fieldManager=two');
  assert.deepEqual([refused.code, refused.body.message], [409, 'Apply failed with 1 conflict: conflict with "one": .data.x']);
  assert.deepEqual(refused.body.details?.causes, [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.x' }]);
  const forced = await apply(server, map({ x: '2' }), 'fieldManager=two&force=true');
  assert.deepEqual(owners(forced.body), [['two', 'Apply', { 'f:data': { 'f:x': {} } }]]);
});

test("an apply that does not fit the schema is the caller's mistake", async (t) => {
  const server = await startTestServer();
  t.after(server.close);
  const { code, body } = await apply(server, { ...map({}), datta: { x: '1' } }, 'fieldManager=me');
  const message = 'failed to create typed patch object (/a; /v1, Kind=ConfigMap): .datta: field not declared in schema';
  assert.deepEqual([code, body.message], [400, message]);
});

test('writes that name no manager are not recorded, and belong to before-first-apply from the first apply on', async (t) => {
  const server = await startTestServer();
  t.after(server.close);
  const { client } = server;
  await client.create(CONFIG_MAPS, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', namespace: 'default' },
    data: { x: '1', y: '1' },
  });
  const changed = await client.patch(CONFIG_MAPS, { namespace: 'default', name: 'a' }, { data: { y: '2' } });
  assert.equal(changed.metadata.managedFields, undefined);
  const refused = await apply(server, map({ x: '2' }), 'fieldManager=me');
  assert.equal(refused.body.message, 'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.x');
  const { body } = await apply(server, map({ x: '1' }), 'fieldManager=me');
  assert.deepEqual(owners(body), [
    ['me', 'Apply', { 'f:data': { 'f:x': {} } }],
    ['before-first-apply', 'Update', { 'f:data': { '.': {}, 'f:x': {}, 'f:y': {} } }],
  ]);
});

test('whoever may patch but not create cannot create by apply', async (t) => {
  const server = await startTestServer();
  t.after(server.close);
  const subject = { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'patcher' };
  await grant(server.client, { subject, rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['patch'] }] });
  const request = { method: 'PATCH', headers: { 'content-type': 'application/apply-patch+yaml' }, body: JSON.stringify(map({})) };
  const response = await server.fetch(`${MAPS}/a?fieldManager=me`, request, { user: 'patcher', groups: ['system:authenticated'] });
  assert.equal(response.status, 403);
  assert.match(((await response.json()) as { message: string }).message, /cannot create resource "configmaps"/);
});

test('a dry run says what would be, and who would own it', async (t) => {
  const server = await startTestServer();
  t.after(server.close);
  await apply(server, map({ x: '1' }), 'fieldManager=me');
  const { revision } = server.store;
  const { body } = await apply(server, map({ y: '1' }), 'fieldManager=me&dryRun=All');
  assert.deepEqual([body['data'], owners(body)], [{ y: '1' }, [['me', 'Apply', { 'f:data': { 'f:y': {} } }]]]);
  assert.equal(server.store.revision, revision);
});

test('many appliers of one object are refused before they cost anything', async (t) => {
  const server = await startTestServer();
  t.after(server.close);
  const entries = Array.from({ length: 256 }, (_, i) => ({
    manager: `m${i}`,
    operation: 'Apply' as const,
    apiVersion: 'v1',
    fieldsType: 'FieldsV1' as const,
    fieldsV1: { 'f:data': { 'f:x': {} } },
  }));
  await apply(server, map({ x: '1' }), 'fieldManager=me');
  await server.client.patch(CONFIG_MAPS, { namespace: 'default', name: 'a' }, { metadata: { managedFields: entries } });
  const refused = await apply(server, map({ x: '1' }), 'fieldManager=one-more');
  assert.deepEqual([refused.code, refused.body.message], [400, 'Cannot apply: more than 256 managers own fields of this object']);
});
