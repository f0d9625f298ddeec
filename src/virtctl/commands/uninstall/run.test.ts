import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { vm } from '../../../testing/builders.ts';
import { type Answers, testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const manifests = resolve(import.meta.dirname, '../../../../deploy');
const KUBEVIRTS = 'GET /apis/kubevirt.io/v1/kubevirts';
const REAL: Answers = {
  'GET /version': { gitVersion: 'v1.33.0', gitCommit: 'abc' },
  'GET /api/v1/nodes': { metadata: {}, items: [{}] },
  'POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews': { status: { allowed: true } },
};

test('machines are not deleted by the way', async () => {
  const machines = { 'GET /apis/kubevirt.io/v1/virtualmachines': { metadata: {}, items: [vm('Always')] } };
  const { deps, requests } = testDeps({ ...REAL, ...machines }, { manifests });
  await assert.rejects(run(deps, { force: false, timeout: 1 }), { code: 'MACHINES_EXIST', why: 'VirtualMachine default/db', exitCode: 4 });
  assert.ok(!requests.some(([request]) => /^(DELETE|PATCH)/.test(request)));
});

test('everything goes, the operator last, and what is gone is not waited for', async () => {
  const { deps, requests, stderr } = testDeps({ ...REAL, [KUBEVIRTS]: { metadata: {}, items: [] } }, { manifests });
  await run(deps, { force: false, timeout: 1 });
  const deleted = requests.filter(([request]) => request.startsWith('DELETE')).map(([request]) => request.split('/').at(-2));
  assert.ok(deleted.indexOf('deployments') < deleted.indexOf('namespaces'), deleted.join());
  assert.match(stderr(), /✓ kubevirt +components removed [\s\S]*✓ operator +virt-operator removed/);
});

test('an embedded cluster is left alone', async () => {
  const { deps } = testDeps({ 'GET /version': { gitVersion: 'v1.33.0', gitCommit: 'kubevirt-ts' } }, { manifests });
  await assert.rejects(run(deps, { force: true, timeout: 1 }), { code: 'EMBEDDED_CLUSTER' });
});
