import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { launcherPodNameOf } from '../../api/launcher/pod-name.ts';
import type { KubeObject } from '../../api/meta.ts';
import { until } from '../../testing/until.ts';
import { type AdmissionWorld, startAdmissionWorld } from './admission-world.testing.ts';

const VMIS = '/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances';
const KUBEVIRTS = '/apis/kubevirt.io/v1/namespaces/kubevirt/kubevirts';
const PODS = '/api/v1/namespaces/default/pods';
const CONTROLLER = 'system:serviceaccount:kubevirt:kubevirt-controller';

describe('the eviction of a launcher Pod', { timeout: 120_000 }, () => {
  let world: AdmissionWorld;
  before(async () => {
    world = await startAdmissionWorld();
    for (const name of ['default', 'kube-system']) await world.send('POST', '/api/v1/namespaces', { metadata: { name } });
    await world.send('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
  });
  after(() => world.close());

  /** An instance that runs on a node, and its Pod. */
  async function machine(name: string, evictionStrategy?: string): Promise<string> {
    const spec = { domain: { memory: { guest: '64Mi' }, devices: {} }, ...(evictionStrategy && { evictionStrategy }) };
    const made = await world.send('POST', VMIS, { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', metadata: { name }, spec });
    assert.equal(made.status, 201, made.body.message);
    await world.send('PATCH', `${VMIS}/${name}`, { status: { phase: 'Running', nodeName: 'node1' } }, CONTROLLER);
    const pod = launcherPodNameOf(made.body as unknown as KubeObject);
    const containers = [{ name: 'compute', image: 'x' }];
    const created = await world.send('POST', PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name: pod }, spec: { containers } });
    assert.equal(created.status, 201, created.body.message);
    return pod;
  }

  const evict = (pod: string, query = '') =>
    world.send('POST', `${PODS}/${pod}/eviction${query}`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod } });
  const statusOf = async (name: string) =>
    ((await world.send('GET', `${VMIS}/${name}`)).body as unknown as { status: { evacuationNodeName?: string } }).status;

  for (const strategy of [undefined, 'None', 'LiveMigrateIfPossible'])
    test(`goes on with the strategy ${strategy}`, async () => {
      const pod = await machine(`goes-${strategy ?? 'none-given'}`.toLowerCase(), strategy);
      assert.equal((await evict(pod)).status, 201);
    });

  test('is refused for a Pod that attaches a volume, for as long as its machine runs', async () => {
    await machine('plugged');
    const pod = 'hp-volume-0123456789';
    await world.send('POST', PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: pod },
      spec: { containers: [{ name: 'c', image: 'x' }] },
    });
    const volumeStatus = [{ name: 'data', target: 'sda', phase: 'Ready', hotplugVolume: { attachPodName: pod, attachPodUID: 'u' } }];
    await world.send('PATCH', `${VMIS}/plugged`, { status: { volumeStatus } }, CONTROLLER);
    assert.match((await evict(pod)).body.message ?? '', /attaches a volume to VMI default\/plugged/);
    await world.send('PATCH', `${VMIS}/plugged`, { status: { phase: 'Succeeded' } }, CONTROLLER);
    assert.equal((await evict(pod)).status, 201);
  });

  test('is refused with LiveMigrate, which nobody can follow, and nothing is marked', async () => {
    const { status, body } = await evict(await machine('stays', 'LiveMigrate'));
    assert.deepEqual([status, body.reason], [429, 'TooManyRequests']);
    assert.match(body.message ?? '', /VMI default\/stays is configured with an eviction strategy but is not live-migratable/);
    assert.equal((await statusOf('stays')).evacuationNodeName, undefined);
  });

  for (const strategy of ['LiveMigrate', 'LiveMigrateIfPossible'])
    test(`is refused with ${strategy} where the machine can be moved, which is begun`, async () => {
      const name = `moves-${strategy}`.toLowerCase();
      const pod = await machine(name, strategy);
      const conditions = [{ type: 'LiveMigratable', status: 'True' }];
      await world.send('PATCH', `${VMIS}/${name}`, { status: { conditions } }, CONTROLLER);
      assert.equal((await evict(pod)).status, 429);
      assert.equal((await statusOf(name)).evacuationNodeName, 'node1');
      assert.match((await evict(pod)).body.message ?? '', /Evacuation in progress: Eviction triggered evacuation of VMI/);
    });

  test('goes by the strategy of the installation where the machine names none, also one that runs since before there was one', async () => {
    const pod = await machine('older');
    const conditions = [{ type: 'LiveMigratable', status: 'True' }];
    await world.send('PATCH', `${VMIS}/older`, { status: { conditions } }, CONTROLLER);
    const kubeVirt = { apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt', metadata: { name: 'kubevirt' } };
    await world.send('POST', '/api/v1/namespaces', { metadata: { name: 'kubevirt' } });
    const made = await world.send('POST', KUBEVIRTS, { ...kubeVirt, spec: { configuration: { evictionStrategy: 'LiveMigrate' } } });
    assert.equal(made.status, 201, made.body.message);
    await until(async () => (await evict(pod, '?dryRun=All')).status === 429);
    assert.equal((await evict(pod)).status, 429);
    assert.equal((await statusOf('older')).evacuationNodeName, 'node1');
    await world.send('DELETE', `${KUBEVIRTS}/kubevirt`);
    await until(async () => (await evict(pod, '?dryRun=All')).status === 201);
  });

  test('is refused with External, and the machine is marked for whoever looks after it, once', async () => {
    const pod = await machine('external', 'External');
    assert.equal((await evict(pod, '?dryRun=All')).status, 429);
    assert.equal((await statusOf('external')).evacuationNodeName, undefined, 'a dry run changes nothing');
    const first = await evict(pod);
    assert.equal(first.status, 429);
    assert.match(first.body.message ?? '', /Eviction triggered evacuation of VMI default\/external/);
    assert.equal((await statusOf('external')).evacuationNodeName, 'node1');
    assert.match((await evict(pod)).body.message ?? '', /Evacuation in progress/);
  });

  test('of Pods that only look like launchers is none of our business', async () => {
    const metadata = { name: 'virt-launcher-forged-abcde', labels: { 'kubevirt.io': 'virt-launcher' } };
    await world.send('POST', PODS, { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'c', image: 'x' }] } });
    assert.equal((await evict(metadata.name)).status, 201);
  });
});
