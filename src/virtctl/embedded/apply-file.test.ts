import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDeps } from '../deps.testing.ts';
import { applyAll, parseManifests } from './apply-file.ts';

const VM = 'apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: db, creationTimestamp: null}\nspec: {}\n';
const BASE = '/apis/kubevirt.io/v1';
const served = { [`GET ${BASE}`]: { resources: [{ name: 'virtualmachines', kind: 'VirtualMachine', namespaced: true }] } };

test('documents and lists, and nothing for empty ones', () => {
  assert.deepEqual(parseManifests('vm.yaml', `${VM}---\n---\n${VM}`).length, 2);
  assert.deepEqual(parseManifests('vm.yaml', `kind: List\nitems:\n- ${VM.trimEnd().replaceAll('\n', '\n  ')}\n`).length, 1);
  assert.deepEqual(parseManifests('vm.yaml', ''), []);
});

for (const text of ['a: [', 'just text', 'kind: VirtualMachine\n'])
  test(`${JSON.stringify(text)} is refused by the name of its file`, () => {
    assert.throws(() => parseManifests('vm.yaml', text), { code: 'MANIFEST_INVALID', message: /vm\.yaml/, exitCode: 2 });
  });

test('what is missing is created, what is there is changed, both in the default namespace', async () => {
  const at = `${BASE}/namespaces/default/virtualmachines`;
  const objects = parseManifests('vm.yaml', VM);
  const first = testDeps({ ...served, [`POST ${at}?fieldValidation=Strict`]: {} });
  assert.equal(await applyAll(first.deps.client, objects), 'VirtualMachine db created');
  assert.deepEqual((first.requests.at(-1)?.[1] as { metadata?: object } | undefined)?.metadata, { name: 'db', namespace: 'default' });
  const second = testDeps({ ...served, [`GET ${at}/db`]: { metadata: { name: 'db' } }, [`PATCH ${at}/db?fieldValidation=Strict`]: {} });
  assert.equal(await applyAll(second.deps.client, objects), 'VirtualMachine db configured');
});

test('a kind that the cluster does not have is named', async () => {
  await assert.rejects(applyAll(testDeps().deps.client, parseManifests('vm.yaml', VM)), { code: 'KIND_UNKNOWN', exitCode: 3 });
});
