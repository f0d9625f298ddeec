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
