/** Machines by an instance type and a preference, and a pool of them, with real guests. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EmbeddedCluster } from './harness.ts';

const GROUP = 'instancetype.kubevirt.io/v1beta1';
const TYPE = 'virtualmachineinstancetype.instancetype.kubevirt.io';
const POOLED = 'app=pooled';

function size(name: string, guest: number) {
  const spec = { cpu: { guest }, memory: { guest: '128Mi' } };
  return { apiVersion: GROUP, kind: 'VirtualMachineInstancetype', metadata: { name }, spec };
}
const preference = {
  apiVersion: GROUP,
  kind: 'VirtualMachinePreference',
  metadata: { name: 'cores' },
  spec: { cpu: { preferredCPUTopology: 'cores' }, devices: { preferredDiskBus: 'virtio' } },
};
function machineSpec(type: string, labels: object = {}) {
  return {
    runStrategy: 'Always',
    instancetype: { name: type, kind: 'VirtualMachineInstancetype' },
    preference: { name: 'cores', kind: 'VirtualMachinePreference' },
    template: {
      metadata: { labels },
      spec: {
        terminationGracePeriodSeconds: 0,
        domain: { devices: {} },
        volumes: [{ name: 'root', containerDisk: { image: 'localhost/guests/tiny:latest' } }],
      },
    },
  };
}
function pool(type: string) {
  const selector = { matchLabels: { app: 'pooled' } };
  const virtualMachineTemplate = { metadata: { labels: selector.matchLabels }, spec: machineSpec(type, selector.matchLabels) };
  const spec = { replicas: 2, maxUnavailable: 1, selector, virtualMachineTemplate };
  return { apiVersion: 'pool.kubevirt.io/v1beta1', kind: 'VirtualMachinePool', metadata: { name: 'pooled' }, spec };
}

test('instance types, preferences and pools with real guests', async (t) => {
  await using cluster = await EmbeddedCluster.start();
  const create = (...items: object[]) =>
    cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) });
  const cores = (name: string) => cluster.field('vmi', name, '.spec.domain.cpu.cores');

  await t.test('sizes and preferences are there from the first moment, and say what they come to', async () => {
    const listed = await cluster.must('kubectl', ['get', 'vmcf', '-l', 'instancetype.kubevirt.io/cpu=1', '-o', 'name']);
    assert.match(listed, /\/u1\.nano\n.*\/u1\.small\n/s);
    const spec = { ...machineSpec(''), runStrategy: 'Halted', instancetype: { name: 'u1.small' }, preference: { name: 'linux' } };
    await create({ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { name: 'known' }, spec });
    const { domain } = JSON.parse(await cluster.must('virtctl', ['expand', '--vm', 'known', '-o', 'json'])).spec.template.spec;
    assert.deepEqual([domain.memory, domain.devices.disks], [{ guest: '2Gi' }, [{ name: 'root', disk: { bus: 'virtio' } }]]);
    await cluster.must('kubectl', ['delete', 'vm', 'known']);
  });

  await t.test('a guest has the processors of its type, and its disk where the preference wants it', async () => {
    const typed = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { name: 'typed' }, spec: machineSpec('pair') };
    await create(size('pair', 2), size('lone', 1), preference, typed);
    await cluster.until('vm/typed', '.status.ready', 'true');
    await using console = cluster.console('typed');
    await console.login();
    assert.equal(await console.command('grep -c ^processor /proc/cpuinfo'), '2');
    assert.match(await console.command('ls /sys/block'), /\bvda\b/);
  });

  await t.test('it keeps them when the type is edited and deleted while it runs, also over a restart', async () => {
    const uid = await cluster.field('vmi', 'typed', '.metadata.uid');
    await cluster.must('kubectl', ['patch', TYPE, 'pair', '--type', 'merge', '-p', '{"spec":{"cpu":{"guest":1}}}']);
    await cluster.must('kubectl', ['delete', TYPE, 'pair']);
    assert.equal(await cluster.field('vm', 'typed', '.status.conditions[?(@.type=="RestartRequired")].status'), '');
    await cluster.must('virtctl', ['restart', 'typed']);
    await cluster.untilReplaced('typed', uid);
    assert.equal(await cores('typed'), '2');
    const copy = await cluster.field('vm', 'typed', '.status.instancetypeRef.controllerRevisionRef.name');
    assert.equal(await cluster.field('controllerrevision', copy, '.data.spec.cpu.guest'), '2');
    await cluster.must('kubectl', ['delete', 'vm', 'typed']);
    await cluster.untilGone(`controllerrevision/${copy}`);
  });

  await t.test('a pool of two is scaled to three', async () => {
    await create(pool('lone'));
    await cluster.until('vmpool/pooled', '.status.readyReplicas', '2');
    await cluster.must('kubectl', ['scale', 'vmpool/pooled', '--replicas=3']);
    await cluster.until('vmpool/pooled', '.status.readyReplicas', '3');
    const names = await cluster.must('kubectl', ['get', 'vm', '-l', POOLED, '-o', 'jsonpath={.items[*].metadata.name}']);
    assert.equal(names, 'pooled-0 pooled-1 pooled-2');
  });

  await t.test('another type in its template rolls its guests, and none is away beside the one', async () => {
    await create(size('two', 2));
    const patch = { spec: { virtualMachineTemplate: { spec: { instancetype: { name: 'two' } } } } };
    await cluster.must('kubectl', ['patch', 'vmpool', 'pooled', '--type', 'merge', '-p', JSON.stringify(patch)]);
    let fewestReady = 3;
    const deadline = performance.now() + 240_000;
    for (let done = false; !done; ) {
      assert.ok(performance.now() < deadline, 'the pool does not come to its end');
      const { items } = JSON.parse(await cluster.must('kubectl', ['get', 'vmi', '-l', POOLED, '-o', 'json']));
      const ready = items.filter(isReady);
      fewestReady = Math.min(fewestReady, ready.length);
      done = ready.length === 3 && items.every((each: Instance) => each.spec.domain.cpu?.cores === 2);
    }
    assert.ok(fewestReady >= 2, `${fewestReady} of 3 were ready at the worst moment`);
    await cluster.until('vmpool/pooled', '.status.readyReplicas', '3');
  });

  await t.test('deleting it takes its machines, copies and guests along', async () => {
    await cluster.must('kubectl', ['delete', 'vmpool', 'pooled']);
    for (const number of [0, 1, 2]) await cluster.untilGone(`vm/pooled-${number}`);
    assert.deepEqual(cluster.guestPids(), []);
  });
});

type Instance = {
  readonly spec: { readonly domain: { readonly cpu?: { readonly cores?: number } } };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
};

function isReady({ status }: Instance): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
}
