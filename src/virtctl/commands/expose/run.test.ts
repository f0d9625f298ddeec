import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vm } from '../../../testing/builders.ts';
import { testDeps } from '../../deps.testing.ts';
import { type ExposeFlags, run } from './run.ts';

const VM = 'GET /apis/kubevirt.io/v1/namespaces/default/virtualmachines/db';
const POST = 'POST /api/v1/namespaces/default/services';
const FLAGS: ExposeFlags = { name: 'db-http', protocol: 'TCP', type: 'ClusterIP' };

test('a Service for the launcher Pods of a machine, running or not', async () => {
  const { deps, requests, stdout } = testDeps({ [VM]: vm('Halted'), [POST]: {} });
  await run(deps, { ...FLAGS, port: 8080, targetPort: '80' }, 'vm', 'db');
  assert.deepEqual(requests[1], [
    POST,
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'db-http', namespace: 'default' },
      spec: { type: 'ClusterIP', selector: { 'vmi.kubevirt.io/id': 'db' }, ports: [{ protocol: 'TCP', port: 8080, targetPort: 80 }] },
    },
  ]);
  assert.equal(stdout(), 'Service db-http successfully created for virtualmachine db\n');
});

test('without a port, and none declared, nothing is made', async () => {
  const { deps, requests } = testDeps({ [VM]: vm('Halted') });
  await assert.rejects(run(deps, FLAGS, 'vm', 'db'), { code: 'USAGE', fix: /--port/ });
  assert.equal(requests.length, 1);
});

test('a machine that is not there, and a kind that has no guests', async () => {
  await assert.rejects(run(testDeps().deps, { ...FLAGS, port: 80 }, 'vm', 'db'), { reason: 'NotFound' });
  await assert.rejects(run(testDeps().deps, { ...FLAGS, port: 80 }, 'pod', 'db'), {
    code: 'USAGE',
    message: /unsupported resource type: pod/,
  });
});
