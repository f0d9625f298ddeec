import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { status, testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const manifests = resolve(import.meta.dirname, '../../../../deploy');
const RIGHTS = 'POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const REAL = { 'GET /version': { gitVersion: 'v1.33.0', gitCommit: 'abc' }, 'GET /api/v1/nodes': { metadata: {}, items: [{}] } };

test('an embedded cluster has everything already', async () => {
  const { deps, requests } = testDeps({ 'GET /version': { gitVersion: 'v1.33.0', gitCommit: 'kubevirt-ts' } }, { manifests });
  await assert.rejects(run(deps, { timeout: 1 }), { code: 'EMBEDDED_CLUSTER', exitCode: 4 });
  assert.equal(requests.length, 1);
});

test('who may not install is told before anything is written', async () => {
  const { deps, requests } = testDeps({ ...REAL, [RIGHTS]: { status: { allowed: false } } }, { manifests });
  await assert.rejects(run(deps, { timeout: 1 }), { code: 'NO_RIGHTS', exitCode: 6, why: /create deployments\.apps/ });
  assert.deepEqual([...new Set(requests.map(([request]) => request.split(' ')[0]))].sort(), ['GET', 'POST']);
  assert.ok(requests.every(([request]) => !request.startsWith('POST') || request === RIGHTS));
});

test('the operator is applied, and waited for, before the KubeVirt object', async () => {
  const { deps, requests, stderr } = testDeps({ ...REAL, [RIGHTS]: { status: { allowed: true } } }, { manifests });
  const client = {
    ...deps.client,
    patch: (async (resource: { plural: string }) => {
      if (resource.plural === 'deployments') throw Object.assign(new Error('stop here'));
      return {};
    }) as never, // enough of a patch for this test
  };
  await assert.rejects(run({ ...deps, client }, { timeout: 1 }), { message: 'stop here' });
  assert.ok(!requests.some(([request]) => request.includes('/kubevirts')));
  assert.match(stderr(), /✓ cluster +Kubernetes v1\.33\.0, 1 node [\s\S]*✓ rights +you may install [\s\S]*✗ operator/);
});

test('a server that refuses is told', async () => {
  const { deps } = testDeps({ 'GET /version': status('Forbidden', 'no') }, { manifests });
  await assert.rejects(run(deps, { timeout: 1 }), { reason: 'Forbidden' });
});

test('what the operator before it said is not taken for the word of the new one', async () => {
  const namespaced = '/apis/apps/v1/namespaces/kubevirt/deployments/virt-operator';
  const conditions = [
    { type: 'Available', status: 'True', reason: 'AllComponentsReady', message: '', lastTransitionTime: '' },
    { type: 'Progressing', status: 'False', reason: 'AllComponentsReady', message: '', lastTransitionTime: '' },
  ];
  const versions = (version: string) => ({ observedKubeVirtVersion: version, targetKubeVirtVersion: version, observedGeneration: 1 });
  const metadata = { name: 'kubevirt', namespace: 'kubevirt', generation: 1 };
  let looks = 0;
  const { deps } = testDeps(
    {
      ...REAL,
      [RIGHTS]: { status: { allowed: true } },
      [`GET ${namespaced}`]: {
        metadata: { generation: 1 },
        status: { observedGeneration: 1, readyReplicas: 1, updatedReplicas: 1, replicas: 1 },
      },
      'GET /apis/kubevirt.io/v1/kubevirts': { metadata: {}, items: [{ metadata, spec: {} }] },
      'GET /apis/kubevirt.io/v1/namespaces/kubevirt/kubevirts/kubevirt': () => {
        looks += 1;
        const told =
          looks < 3 ? { ...versions('v1'), targetDeploymentID: 'r/kubevirt:1' } : { ...versions('v2'), targetDeploymentID: 'r/kubevirt:2' };
        return { metadata, spec: {}, status: { ...told, conditions } };
      },
      'GET /apis/storage.k8s.io/v1/storageclasses': { metadata: {}, items: [] },
    },
    { manifests },
  );
  const client = { ...deps.client, patch: (async () => ({})) as never }; // whatever is applied is taken
  const clock = { now: () => 0, steady: () => 0, sleep: async () => {} };
  await run({ ...deps, client, clock }, { timeout: 1, registry: 'r', tag: '2' });
  assert.equal(looks, 3);
});
