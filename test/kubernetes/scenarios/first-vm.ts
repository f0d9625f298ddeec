/** The life of machines in a namespace for restricted Pods: network, volumes, images, endings, and components that are replaced meanwhile. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { LEASES } from '../../../src/api/core/lease.ts';
import { ensureUpstreamVirtctl, upstreamVirtctlSkipReason } from '../../../tools/upstream-virtctl/build.ts';
import { ConsoleSession, run } from '../../e2e/harness.ts';
import { logIn } from '../product-cluster.ts';
import { pushGuest } from '../push-images.ts';
import { eventually, type World } from './world.ts';

export function firstVmScenarios(shared: World): void {
  const world = shared.in('vms');
  const system = shared.in('kubevirt');
  const runs = (name: string) => world.until(`vm/${name}`, '.status.printableStatus', 'Running');
  /** With further disks, and with another image than the demo guest's. */
  const machine = (name: string, { image, claims = [] }: { readonly image?: string; readonly claims?: readonly string[] } = {}) => {
    const made = world.machine(name) as { spec: { template: { spec: { volumes: object[]; domain: { devices: { disks: object[] } } } } } };
    const { volumes, domain } = made.spec.template.spec;
    if (image) volumes[0] = { name: 'root', containerDisk: { image } };
    domain.devices.disks.push(...claims.map((claim) => ({ name: claim, disk: { bus: 'virtio' } })));
    volumes.push(...claims.map((claim) => ({ name: claim, persistentVolumeClaim: { claimName: claim } })));
    return made;
  };

  describe('machines where Pods are restricted', () => {
    before(() => world.makeNamespace({ 'pod-security.kubernetes.io/enforce': 'restricted' }));
    after(() => shared.kubectl('delete', 'namespace', 'vms', '--timeout=400s'));

    test('a machine boots to its login, and answers on a low port of its Pod that nobody declared', async () => {
      const web = JSON.stringify(machine('web')).replace('"ports":[{"port":80}]', '"ports":[]');
      assert.doesNotMatch(web, /"port":/);
      await world.apply(JSON.parse(web));
      await runs('web');
      assert.match(await world.inGuest('web', 'ip -4 addr show eth0'), /inet 10\.0\.2\.2\/24/);
      const address = (await world.launcherOf('web')).status?.podIP;
      const page = await eventually(() => fetch(`http://${address}/`, { signal: AbortSignal.timeout(20_000) }));
      assert.match(await page.text(), /Hello from a virtual machine/);
    });

    test("a guest asks the cluster's DNS, and reaches itself through a Service", async () => {
      await world.kubectl('expose', 'pod', (await world.launcherOf('web')).metadata.name, '--name=web', '--port=8080', '--target-port=80');
      const address = await world.kubectl('get', 'service', 'web', '-o', 'jsonpath={.spec.clusterIP}');
      assert.match(await world.inGuest('web', 'nslookup web.vms.svc.cluster.local'), new RegExp(address.replaceAll('.', '\\.')));
      // Not by wget: that of a static busybox breaks.
      const asked = `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 20 ${address} 8080`;
      await eventually(async () => assert.match(await world.inGuest('web', asked), /Hello from a virtual machine/));
    });

    test('a virt-handler that is replaced finds the guests that run, and they notice nothing', async () => {
      const before = await world.vmi('web');
      const bootId = await world.bootIdOf('web');
      const handlers = await system.pods('kubevirt.io=virt-handler');
      const old = handlers.find(({ spec }) => spec.nodeName === before.status?.nodeName);
      await system.kubectl('delete', 'pod', old?.metadata.name ?? '');
      await system.kubectl('rollout', 'status', 'daemonset/virt-handler', '--timeout=400s');
      assert.equal(await eventually(() => world.bootIdOf('web')), bootId);
      const now = await world.vmi('web');
      assert.deepEqual([now.metadata.uid, now.status?.phase], [before.metadata.uid, 'Running']);
    });

    test('when the virt-controller that leads is gone, the other one works on', async () => {
      const leader = async () =>
        (await world.cluster.client.get(LEASES, { namespace: 'kubevirt', name: 'virt-controller' }))?.spec.holderIdentity?.split('_')[0];
      const first = await leader();
      assert.ok((await system.pods('kubevirt.io=virt-controller')).some(({ metadata }) => metadata.name === first));
      await system.kubectl('delete', 'pod', first ?? '', '--force', '--grace-period=0');
      await world.kubectl('patch', 'vm', 'web', '--type=merge', '-p', '{"spec":{"runStrategy":"Halted"}}');
      await world.until('vm/web', '.status.printableStatus', 'Stopped');
      assert.notEqual(await leader(), first);
      await system.kubectl('rollout', 'status', 'deployment/virt-controller', '--timeout=400s');
    });

    test('a guest pings its node; its Pod completes when it powers off, with the container of its disk', async () => {
      const { spec } = machine('once').spec.template;
      await world.apply({
        apiVersion: 'kubevirt.io/v1',
        kind: 'VirtualMachineInstance',
        metadata: { name: 'once', namespace: 'vms' },
        spec,
      });
      await world.until('vmi/once', '.status.phase', 'Running');
      await using console = await logIn(world.cluster, { namespace: 'vms', name: 'once' });
      const { hostIP } = (await world.launcherOf('once')).status ?? {};
      assert.match(await console.command(`ping -c 2 -W 10 ${hostIP}`), / 0% packet loss/);
      console.type('poweroff\n');
      await world.until('vmi/once', '.status.phase', 'Succeeded');
      const { name } = (await world.launcherOf('once')).metadata;
      await world.until(`pod/${name}`, '.status.phase', 'Succeeded');
    });

    test('what a guest writes to claims, a folder and a device, is there after a restart', async () => {
      const claims = ['Filesystem', 'Block'].map((volumeMode) => ({
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: volumeMode.toLowerCase(), namespace: 'vms' },
        spec: { accessModes: ['ReadWriteOnce'], volumeMode, resources: { requests: { storage: '64Mi' } } },
      }));
      await world.apply(...claims, machine('keeper', { claims: claims.map(({ metadata }) => metadata.name) }));
      await runs('keeper');
      await world.inGuest('keeper', 'for d in vdb vdc; do echo kept-on-$d | dd of=/dev/$d bs=512 conv=sync,fsync; done');
      const { uid } = (await world.vmi('keeper')).metadata;
      await world.kubectl('delete', 'vmi', 'keeper', '--timeout=400s');
      await eventually(async () => assert.notEqual((await world.vmi('keeper')).metadata.uid, uid));
      await runs('keeper');
      assert.match(await world.inGuest('keeper', 'for d in vdb vdc; do head -c 12 /dev/$d; done'), /kept-on-vdb\nkept-on-vdc/);
      await world.kubectl('delete', 'vm/keeper', '--timeout=400s');
      await world.kubectl('wait', 'pod', '-l', 'vm.kubevirt.io/name=keeper', '--for=delete', '--timeout=400s');
    });

    test('its disks are looked into by virtctl guestfs, ours and that of KubeVirt', async () => {
      const env = { KUBECONFIG: world.cluster.kubeconfig, NO_COLOR: '1' };
      const input = 'qemu-img info --output=json disk.img | grep virtual-size; head -c 11 disk.img; exit\n';
      const { stdout, stderr } = await run('bin/virtctl', ['guestfs', 'filesystem', '-n', 'vms'], { env, input });
      assert.match(stdout, /"virtual-size": 6\d{7}.*kept-on-vdb/s, stderr);
      if (upstreamVirtctlSkipReason() === false) {
        const words = [
          '-qec',
          `${ensureUpstreamVirtctl()} guestfs block --kvm=false -n vms --kubeconfig ${world.cluster.kubeconfig}`,
          '/dev/null',
        ];
        await using shell = new ConsoleSession(spawn('script', words, { env: { ...process.env, ...env } }));
        await shell.expect(/command prompt/); // it attaches when the greeting is over
        shell.type('head -c 11 /dev/vda; exit\n');
        await shell.expect(/kept-on-vdc/);
        await world.kubectl('delete', 'pod/libguestfs-tools-block', '--ignore-not-found', '--grace-period=0', '--force');
      }
      await world.kubectl('delete', 'pvc/filesystem', 'pvc/block', '--timeout=400s');
    });

    const hasNoImage = (name: string) =>
      eventually(async () => assert.match((await world.vm(name)).status?.printableStatus ?? '', /^(ErrImagePull|ImagePullBackOff)$/));

    test('a machine whose image cannot be had says so, and starts by itself when the image is there', async () => {
      await world.apply(machine('late', { image: 'docker.io/guests/late:1' }));
      await hasNoImage('late');
      await pushGuest(world.cluster, 'tiny', 'guests/late:1');
      await eventually(() => runs('late')); // a kubelet waits up to five minutes between two tries
    });

    test('a machine that waits for its image does not keep anybody waiting when it is deleted', async () => {
      const nothing = machine('nothing', { image: 'docker.io/guests/nothing:1' });
      Object.assign(nothing.spec.template.spec, { terminationGracePeriodSeconds: 3600 }); // of a guest that there never is
      await world.apply(nothing);
      await hasNoImage('nothing');
      await world.kubectl('delete', 'vm', 'nothing', '--timeout=400s');
      await world.kubectl('wait', 'pod', '-l', 'vm.kubevirt.io/name=nothing', '--for=delete', '--timeout=400s');
    });
  });
}
