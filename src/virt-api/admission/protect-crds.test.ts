import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../../client/client.ts';
import { reviewCrdDeletion } from './protect-crds.ts';

function asked(name: string, machines: readonly string[], operation = 'DELETE') {
  const items = machines.map((each) => ({ metadata: { namespace: 'default', name: each } }));
  const fetch = async () => Response.json({ items, metadata: { resourceVersion: '1' } });
  const oldObject = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name } };
  const request = { uid: '1', operation, username: 'ada', isDryRun: false, object: undefined, oldObject };
  return reviewCrdDeletion(request, createClient({ fetch, baseUrl: 'https://cluster', userAgent: 'test' }));
}

test('a definition stays while there are objects of it, which are counted: whoever asks need not be known, and learns no names', async () => {
  const { allowed, status } = await asked('virtualmachines.kubevirt.io', ['a', 'b', 'c', 'd', 'e', 'f']);
  assert.equal(allowed, false);
  assert.match(JSON.stringify(status), /virtualmachines\.kubevirt\.io stays.*: 6 objects\. .*kubectl get virtualmachines\.kubevirt\.io -A/);
  assert.doesNotMatch(JSON.stringify(status), /default/);
});

for (const [what, answer] of [
  ['the deletion of a CRD without objects', asked('virtualmachines.kubevirt.io', [])],
  ["the deletion of somebody else's CRD", asked('widgets.example.com', ['a'])],
  ['a change of a CRD', asked('virtualmachines.kubevirt.io', ['a'], 'UPDATE')],
] as const)
  test(`${what} is let pass`, async () => assert.deepEqual(await answer, { allowed: true }));
