/** The instance types of deploy/ at the real API server. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { CLUSTER_INSTANCETYPES } from '../../api/kubevirt/kinds/cluster-instancetype.ts';
import { CLUSTER_PREFERENCES } from '../../api/kubevirt/kinds/cluster-preference.ts';
import { KUBEVIRTS } from '../../api/kubevirt/kinds/kubevirt.ts';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { startCache } from '../../client/cache.ts';
import { readManifests } from '../../cmd/cluster/read-manifests.ts';
import { apply, applyManifests } from '../../cmd/embedded/apply-manifests.ts';
import { startTestServer, type TestServer } from '../../control-plane/apiserver/test-server.testing.ts';
import { quiet, until } from '../../testing/until.ts';
import { isCommonInstancetype, runCommonInstancetypes } from './controller.ts';

const DEPLOY = join(import.meta.dirname, '../../../deploy');
const AT = { namespace: 'kubevirt', name: 'kubevirt' };
const SIZES = ['u1.2xlarge', 'u1.2xmedium', 'u1.large', 'u1.medium', 'u1.micro', 'u1.nano', 'u1.small', 'u1.xlarge'];

describe('common instance types at the API server', { timeout: 60_000 }, () => {
  let api: TestServer;
  const stop = new AbortController();
  let running: Promise<void>;
  let keptCount = 0;
  before(async () => {
    api = await startTestServer();
    await applyManifests(api.client, join(DEPLOY, 'crds'), (object) => object);
    await apply(api.client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kubevirt' } });
    const own = { metadata: { name: 'u1.nano' }, spec: { cpu: { guest: 3 }, memory: { guest: '3Gi' } } };
    await api.client.create(CLUSTER_INSTANCETYPES, { apiVersion: 'instancetype.kubevirt.io/v1beta1', kind: 'VirtualMachineClusterInstancetype', ...own }); // biome-ignore format: one object
    await api.client.create(KUBEVIRTS, { apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt', metadata: AT, spec: {} });
    const options = { client: api.client, clock: systemClock, log: silentLogger, signal: stop.signal };
    const kubeVirts = startCache({ ...options, resource: KUBEVIRTS });
    const objects = readManifests(DEPLOY).filter(isCommonInstancetype);
    running = runCommonInstancetypes({ ...options, kubeVirts, objects, onKept: () => void keptCount++ });
  });
  after(async () => {
    stop.abort();
    await running;
    api.close();
  });

  const names = async () => (await api.client.list(CLUSTER_INSTANCETYPES)).items.map(({ metadata }) => metadata.name).sort();
  const switched = (enabled: boolean) =>
    api.client.patch(KUBEVIRTS, AT, { spec: { configuration: { commonInstancetypesDeployment: { enabled } } } });

  test('there are none before the installation works, and all of them after that; what somebody else made stays', async () => {
    await quiet();
    assert.deepEqual([await names(), keptCount], [['u1.nano'], 0]);
    await api.client.patch(KUBEVIRTS, AT, { status: { phase: 'Deployed' } }, { subresource: 'status' });
    await until(() => keptCount > 0, 'all of them');
    assert.deepEqual(await names(), SIZES);
    assert.equal((await api.client.get(CLUSTER_INSTANCETYPES, { name: 'u1.nano' }))?.spec.cpu.guest, 3);
    const systems = (await api.client.list(CLUSTER_PREFERENCES)).items.map(({ metadata }) => metadata.name);
    assert.deepEqual(systems.sort(), ['alpine', 'cirros', 'debian', 'fedora', 'linux', 'ubuntu']);
  });

  test('one that is edited or deleted comes back', async () => {
    await api.client.patch(CLUSTER_INSTANCETYPES, { name: 'u1.small' }, { spec: { cpu: { guest: 64 } } });
    await api.client.delete(CLUSTER_INSTANCETYPES, { name: 'u1.large' });
    const guests = async (name: string) => (await api.client.get(CLUSTER_INSTANCETYPES, { name }))?.spec.cpu.guest;
    await until(async () => (await guests('u1.small')) === 1 && (await guests('u1.large')) === 2, 'them to be put right');
  });

  test('they can be switched off and on again', async () => {
    await switched(false);
    await until(async () => (await api.client.list(CLUSTER_PREFERENCES)).items.length === 0, 'them to go');
    assert.deepEqual(await names(), ['u1.nano']);
    await switched(true);
    await until(async () => (await names()).length === SIZES.length, 'them to come back');
  });
});
