import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDeps } from '../../../deps.testing.ts';
import { run as remove } from '../remove/run.ts';
import { run } from './run.ts';

const BASE = '/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachines/db';
const DUMP = `PUT ${BASE}/memorydump`;
const REMOVE = `PUT ${BASE}/removememorydump`;
const VM = 'GET /apis/kubevirt.io/v1/namespaces/default/virtualmachines/db';
const VMI = 'GET /apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances/db';
const CLAIMS = 'POST /api/v1/namespaces/default/persistentvolumeclaims';
const vmi = { metadata: { name: 'db' }, spec: { domain: { memory: { guest: '128Mi' }, devices: {} } } };

test('a dump is one request to the machine; the PVC of the last one need not be named', async () => {
  const { deps, requests, stdout } = testDeps({ [DUMP]: {} });
  await run(deps, { portForward: false, createClaim: false, claimName: 'dump' }, 'db');
  await run(deps, { portForward: false, createClaim: false }, 'vm', 'db');
  assert.deepEqual(requests, [
    [DUMP, { claimName: 'dump' }],
    [DUMP, {}],
  ]);
  assert.equal(stdout(), 'Successfully submitted memory dump request of VM db\n'.repeat(2));
});

test('--create-claim makes a PVC that is as large as the server asks for', async () => {
  const { deps, requests, stdout } = testDeps({ [VM]: {}, [VMI]: vmi, [CLAIMS]: {}, [DUMP]: {} });
  await run(deps, { portForward: false, createClaim: true, claimName: 'dump', storageClass: 'fast', accessMode: 'ReadWriteMany' }, 'db');
  const spec = { accessModes: ['ReadWriteMany'], storageClassName: 'fast', resources: { requests: { storage: '482Mi' } } };
  const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { namespace: 'default', name: 'dump' }, spec };
  assert.deepEqual(requests.slice(2), [
    [CLAIMS, claim],
    [DUMP, { claimName: 'dump' }],
  ]);
  assert.match(stdout(), /^PVC default\/dump created\n/);
});

test('what cannot be made is told before anything is asked for', async () => {
  const { deps, requests } = testDeps({});
  await assert.rejects(run(deps, { portForward: false, createClaim: true }, 'db'), { code: 'USAGE' });
  await assert.rejects(run(deps, { portForward: false, createClaim: true, claimName: 'dump', accessMode: 'ReadOnlyMany' }, 'db'), {
    code: 'USAGE',
  });
  assert.deepEqual(requests, []);
});

test('no PVC is made for a machine that has another one for its dumps', async () => {
  const { deps, requests } = testDeps({ [VM]: { status: { memoryDumpRequest: { claimName: 'old' } } }, [VMI]: vmi });
  await assert.rejects(run(deps, { portForward: false, createClaim: true, claimName: 'dump' }, 'db'), {
    reason: 'Conflict',
    message: /PVC old .*remove/,
  });
  assert.ok(requests.every(([request]) => request.startsWith('GET')));
});

test('remove is one request, too', async () => {
  const { deps, requests } = testDeps({ [REMOVE]: {} });
  await remove(deps, {}, 'db');
  assert.deepEqual(requests, [[REMOVE, {}]]);
});
