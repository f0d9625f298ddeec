/** The KubeVirt object at the real API server, as tools of KubeVirt change it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startAdmissionWorld } from './admission-world.testing.ts';

const KUBEVIRTS = '/apis/kubevirt.io/v1/namespaces/kubevirt/kubevirts';

test('an object that says nothing has a configuration that can be added to by JSON Patch; a policy says the rest of moves', async () => {
  const world = await startAdmissionWorld();
  try {
    await world.send('POST', '/api/v1/namespaces', { metadata: { name: 'kubevirt' } });
    const empty = { apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt', metadata: { name: 'kubevirt' }, spec: {} };
    const made = await world.send('POST', KUBEVIRTS, empty);
    assert.deepEqual([made.status, made.body['spec']], [201, { configuration: {} }], made.body.message);
    // As `virtctl adm log-verbosity --virt-api=3` of KubeVirt asks.
    const value = { logVerbosity: { virtAPI: 3 } };
    const changed = await world.handle(
      new Request(`https://k${KUBEVIRTS}/kubevirt`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json-patch+json' },
        body: JSON.stringify([{ op: 'add', path: '/spec/configuration/developerConfiguration', value }]),
      }),
      { user: 'ada', groups: ['system:masters', 'system:authenticated'] },
    );
    const { spec } = (await changed.json()) as { spec?: object };
    assert.deepEqual([changed.status, spec], [200, { configuration: { developerConfiguration: value } }]);
    const policies = '/apis/migrations.kubevirt.io/v1alpha1/migrationpolicies';
    const policy = (name: string, more: object) => ({
      metadata: { name },
      spec: { selectors: { virtualMachineInstanceSelector: { a: 'b' } }, ...more },
    });
    const refused = await world.send('POST', policies, policy('late', { allowPostCopy: true }));
    assert.deepEqual([refused.status, /spec.allowPostCopy/.test(refused.body.message ?? '')], [422, true]);
    assert.equal((await world.send('POST', policies, policy('slow', { bandwidthPerMigration: '64Mi' }))).status, 201);
  } finally {
    await world.close();
  }
});
