import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { LEASES } from '../../src/api/core/other.ts';
import { PODS, type Pod } from '../../src/api/core/pod.ts';
import { VMIS } from '../../src/api/kubevirt/virtual-machine-instance.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { RealCluster } from '../../tools/kubernetes/cluster.ts';
import { apply, kubectl } from './kubectl.ts';
import { GUEST_IMAGE, logIn, runInGuest, startProductCluster } from './product-cluster.ts';
import { pushGuest } from './push-images.ts';
import { whyNoNodes } from './why-no-nodes.ts';

const NAMESPACE = 'vms';

type Wishes = { readonly image?: string; readonly claims?: readonly string[] };

function instanceSpec({ image = GUEST_IMAGE, claims = [] }: Wishes = {}): object {
  return {
    terminationGracePeriodSeconds: 60,
    domain: {
      memory: { guest: '128Mi' },
      devices: {
        disks: ['root', ...claims].map((name) => ({ name, disk: { bus: 'virtio' } })),
        interfaces: [{ name: 'default', masquerade: {}, ports: [{ port: 80 }] }],
      },
    },
    networks: [{ name: 'default', pod: {} }],
    volumes: [{ name: 'root', containerDisk: { image } }, ...claims.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }))],
  };
}

function machine(name: string, wishes: Wishes = {}): object {
  const template = { metadata: { labels: { machine: name } }, spec: instanceSpec(wishes) };
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name, namespace: NAMESPACE },
    spec: { runStrategy: 'Always', template },
  };
}

describe('the product on a real Kubernetes', { skip: whyNoNodes() }, () => {
  let cluster: RealCluster;
  before(async () => {
    cluster = await startProductCluster({ name: `first-vm-${process.pid}` });
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await apply(cluster, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels } });
  });
  after(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });

  const inVms = (...args: string[]) => kubectl(cluster, '-n', NAMESPACE, ...args);
  const until = (what: string, path: string, value: string) => inVms('wait', what, `--for=jsonpath={${path}}=${value}`, '--timeout=180s');
  const launcherOf = async (name: string): Promise<Pod> => {
    const { items } = await cluster.client.list(PODS, { namespace: NAMESPACE, labelSelector: `vm.kubevirt.io/name=${name}` });
    assert.equal(items.length, 1, `one Pod of ${name}`);
    return items[0]!; // there is one: see above
  };
  const inGuest = (name: string, command: string) => runInGuest(cluster, { namespace: NAMESPACE, name }, command);
  const componentPods = async (component: string) =>
    (await cluster.client.list(PODS, { namespace: 'kubevirt', labelSelector: `kubevirt.io=${component}` })).items;

  test('a machine in a namespace for restricted Pods boots to its login, and answers on a low port of its Pod', async () => {
    await apply(cluster, machine('web'));
    await until('vm/web', '.status.printableStatus', 'Running');
    assert.match(await inGuest('web', 'ip -4 addr show eth0'), /inet 10\.0\.2\.2\/24/);
    const address = (await launcherOf('web')).status?.podIP;
    const page = await fetch(`http://${address}/`, { signal: AbortSignal.timeout(60_000) });
    assert.match(await page.text(), /Hello from a virtual machine/);
  });

  test("a guest asks the cluster's DNS, and reaches itself through a Service", async () => {
    await inVms('expose', 'pod', (await launcherOf('web')).metadata.name, '--name=web', '--port=8080', '--target-port=80');
    const address = await inVms('get', 'service', 'web', '-o', 'jsonpath={.spec.clusterIP}');
    assert.match(await inGuest('web', 'nslookup web.vms.svc.cluster.local'), new RegExp(address.replaceAll('.', '\\.')));
    // Not by wget: that of a static busybox breaks.
    const asked = `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 20 ${address} 8080`;
    assert.match(await inGuest('web', asked), /Hello from a virtual machine/);
  });

  test('a virt-handler that is replaced finds the guests that run, and they notice nothing', async () => {
    const before = await cluster.client.get(VMIS, { namespace: NAMESPACE, name: 'web' });
    const bootId = await inGuest('web', 'cat /proc/sys/kernel/random/boot_id');
    const [old] = await componentPods('virt-handler');
    await kubectl(cluster, '-n', 'kubevirt', 'delete', 'pod', old?.metadata.name ?? '');
    await kubectl(cluster, '-n', 'kubevirt', 'rollout', 'status', 'daemonset/virt-handler', '--timeout=180s');
    assert.equal(await inGuest('web', 'cat /proc/sys/kernel/random/boot_id'), bootId);
    const now = await cluster.client.get(VMIS, { namespace: NAMESPACE, name: 'web' });
    assert.deepEqual([now?.metadata.uid, now?.status?.phase], [before?.metadata.uid, 'Running']);
  });

  test('when the virt-controller that leads is gone, the other one works on', async () => {
    const leader = async () =>
      (await cluster.client.get(LEASES, { namespace: 'kubevirt', name: 'virt-controller' }))?.spec.holderIdentity?.split('_')[0];
    const first = await leader();
    assert.ok((await componentPods('virt-controller')).some(({ metadata }) => metadata.name === first));
    await kubectl(cluster, '-n', 'kubevirt', 'delete', 'pod', first ?? '', '--force', '--grace-period=0');
    await inVms('patch', 'vm', 'web', '--type=merge', '-p', '{"spec":{"runStrategy":"Halted"}}');
    await until('vm/web', '.status.printableStatus', 'Stopped');
    assert.notEqual(await leader(), first);
  });

  test('the Pod of a guest that powers off completes, with the container of its disk', async () => {
    const metadata = { name: 'once', namespace: NAMESPACE };
    await apply(cluster, { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', metadata, spec: instanceSpec() });
    await until('vmi/once', '.status.phase', 'Running');
    await using console = await logIn(cluster, { namespace: NAMESPACE, name: 'once' });
    console.type('poweroff\n');
    await until('vmi/once', '.status.phase', 'Succeeded');
    const { name } = (await launcherOf('once')).metadata;
    await until(`pod/${name}`, '.status.phase', 'Succeeded');
  });

  test('what a guest writes to claims, a folder and a device, is there after a restart', async () => {
    const claims = ['Filesystem', 'Block'].map((volumeMode) => ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: volumeMode.toLowerCase(), namespace: NAMESPACE },
      spec: { accessModes: ['ReadWriteOnce'], volumeMode, resources: { requests: { storage: '64Mi' } } },
    }));
    const names = claims.map(({ metadata }) => metadata.name);
    await apply(cluster, ...claims, machine('keeper', { claims: names }));
    await until('vm/keeper', '.status.printableStatus', 'Running');
    await inGuest('keeper', 'for d in vdb vdc; do echo kept-on-$d | dd of=/dev/$d bs=512 conv=sync,fsync; done');
    const { uid } = (await cluster.client.get(VMIS, { namespace: NAMESPACE, name: 'keeper' }))?.metadata ?? {};
    await inVms('delete', 'vmi', 'keeper', '--timeout=180s');
    await until('vm/keeper', '.status.printableStatus', 'Running');
    assert.notEqual((await cluster.client.get(VMIS, { namespace: NAMESPACE, name: 'keeper' }))?.metadata.uid, uid);
    assert.match(await inGuest('keeper', 'for d in vdb vdc; do head -c 12 /dev/$d; done'), /kept-on-vdb\nkept-on-vdc/);
  });

  const hasNoImage = async (name: string) => {
    const isTold = (status: string) => /^(ErrImagePull|ImagePullBackOff)$/.test(status);
    while (!isTold(await inVms('get', 'vm', name, '-o', 'jsonpath={.status.printableStatus}'))) await systemClock.sleep(200);
  };

  test('a machine whose image cannot be had says so, and starts by itself when the image is there', async () => {
    await apply(cluster, machine('late', { image: 'docker.io/guests/late:1' }));
    await hasNoImage('late');
    await pushGuest(cluster, 'tiny', 'guests/late:1');
    await until('vm/late', '.status.printableStatus', 'Running');
  });

  test('a machine that waits for its image does not keep anybody waiting when it is deleted', async () => {
    await apply(cluster, machine('nothing', { image: 'docker.io/guests/nothing:1' }));
    await hasNoImage('nothing');
    const startedAt = performance.now();
    await inVms('delete', 'vm', 'nothing', '--timeout=180s');
    await inVms('wait', 'pod', '-l', 'vm.kubevirt.io/name=nothing', '--for=delete', '--timeout=180s');
    assert.ok(performance.now() - startedAt < 60_000, 'less than the grace period of a guest that there never was');
  });
});
