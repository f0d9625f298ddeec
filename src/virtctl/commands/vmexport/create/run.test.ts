import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDeps } from '../../../deps.testing.ts';
import { run } from './run.ts';

const EXPORTS = '/apis/export.kubevirt.io/v1/namespaces/default/virtualmachineexports';

test('an export says what it is of, and for how long', async () => {
  const { deps, requests } = testDeps({ [`POST ${EXPORTS}`]: {} });
  await run(deps, { vm: 'db', ttl: '30m', labels: 'a=b,c=d=e' }, 'out');
  const [, body] = requests.find(([request]) => request.startsWith('POST')) ?? [];
  assert.deepEqual(body, {
    apiVersion: 'export.kubevirt.io/v1',
    kind: 'VirtualMachineExport',
    metadata: { namespace: 'default', name: 'out', labels: { a: 'b', c: 'd=e' } },
    spec: { source: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'db' }, ttlDuration: '30m' },
  });
});

test('one source is named, and times are times', async () => {
  const { deps } = testDeps({});
  await assert.rejects(run(deps, {}, 'out'), { code: 'USAGE', message: /nobody says/ });
  await assert.rejects(run(deps, { vm: 'a', pvc: 'b' }, 'out'), { code: 'USAGE', message: /exclude each other/ });
  await assert.rejects(run(deps, { vm: 'a', ttl: 'long' }, 'out'), { code: 'USAGE', message: /no time/ });
});
