import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launcherPodNameOf } from '../../../api/launcher/pod-name.ts';
import { status, testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const VM = 'PUT /apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachines/db/restart';
const VMI = 'GET /apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances/db';
const PODS = 'GET /api/v1/namespaces/default/pods?labelSelector=kubevirt.io%2Fcreated-by%3Du1';

const vmi = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', metadata: { namespace: 'default', name: 'db', uid: 'u1' } };
const podOf = (name: string, owner: string) => ({
  metadata: {
    namespace: 'default',
    name,
    uid: `of-${name}`,
    ownerReferences: [{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'db', uid: owner, controller: true }],
  },
});

test('a restart is one request', async () => {
  const { deps, requests, stdout } = testDeps({ [VM]: {} });
  await run(deps, { dryRun: false, force: false }, 'db');
  assert.deepEqual([requests, stdout()], [[[VM, {}]], 'VM db was scheduled to restart\n']);
});

test('by force the launcher Pod of the instance goes, too, and no other', async () => {
  const ours = launcherPodNameOf(vmi);
  const remove = `DELETE /api/v1/namespaces/default/pods/${ours}`;
  const { deps, requests } = testDeps({
    [VMI]: vmi,
    [PODS]: { metadata: {}, items: [podOf(ours, 'u1'), podOf('foreign', 'u1'), podOf(ours, 'u2')] },
    [VM]: {},
    [remove]: {},
  });
  await run(deps, { dryRun: false, force: true, gracePeriod: 0 }, 'db');
  assert.deepEqual(
    requests.map(([request]) => request),
    [VMI, PODS, VM, remove],
  );
  assert.deepEqual(requests[2]?.[1], { gracePeriodSeconds: 0 });
  assert.deepEqual(requests[3]?.[1], {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    gracePeriodSeconds: 0,
    preconditions: { uid: `of-${ours}` },
  });
});

test('a dry run by force takes no Pod away', async () => {
  const { deps, requests } = testDeps({ [VM]: {} });
  await run(deps, { dryRun: true, force: true, gracePeriod: 0 }, 'db');
  assert.deepEqual(requests, [[VM, { gracePeriodSeconds: 0, dryRun: ['All'] }]]);
});

test('a restart that is refused takes no Pod away', async () => {
  const { deps, requests } = testDeps({
    [VMI]: vmi,
    [PODS]: { metadata: {}, items: [podOf('ours', 'u1')] },
    [VM]: status('Conflict', 'Cannot restart VM default/db'),
  });
  await assert.rejects(run(deps, { dryRun: false, force: true, gracePeriod: 0 }, 'db'), { reason: 'Conflict' });
  assert.ok(!requests.some(([request]) => request.startsWith('DELETE')));
});

test('--force needs --grace-period', async () => {
  const { deps } = testDeps();
  await assert.rejects(run(deps, { dryRun: false, force: true }, 'db'), { code: 'USAGE' });
});
