/** Parts of the product and of Kubernetes go away for a while; guests run on, and work goes on when they are back. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { eventually, type World } from './world.ts';

/** How long the API server is away; `API_SERVER_AWAY_SECONDS=300` for the full time. */
const AWAY_MS = Number(process.env['API_SERVER_AWAY_SECONDS'] ?? 25) * 1000;

export function componentScenarios(shared: World): void {
  const world = shared.in('parts');
  const system = shared.in('kubevirt');
  const rolledOut = (what: string) => system.kubectl('rollout', 'status', what, '--timeout=400s');
  const podsOf = async (component: string) => (await system.pods(`kubevirt.io=${component}`)).map(({ metadata }) => metadata.name);
  const kill = (pod: string) => system.kubectl('delete', 'pod', pod, '--force', '--grace-period=0');
  const patch = (name: string, spec: object) => world.kubectl('patch', 'vm', name, '--type=merge', '-p', JSON.stringify({ spec }));
  /** A whole life of a machine: everybody has to do something for it. */
  const worksOn = async (name: string) => {
    await eventually(() => world.apply(world.machine(name)));
    await world.untilReady(name);
    await eventually(() => patch(name, { runStrategy: 'Halted' }));
    await world.until(`vm/${name}`, '.status.printableStatus', 'Stopped');
    await world.kubectl('delete', 'vm', name, '--timeout=400s');
  };

  describe('parts that go away', () => {
    let bootId: string;
    before(async () => {
      await world.makeNamespace();
      await world.apply(world.machine('witness'));
      await world.untilReady('witness');
      bootId = await world.bootIdOf('witness');
    });
    after(() => shared.kubectl('delete', 'namespace', 'parts', '--timeout=400s'));
    const guestNoticedNothing = async () => {
      assert.equal(await eventually(() => world.bootIdOf('witness')), bootId);
      await world.untilReady('witness');
    };

    for (const component of ['virt-operator', 'virt-api', 'virt-controller', 'virt-handler']) {
      test(`each Pod of ${component} is killed in turn`, async () => {
        const workload = `${component === 'virt-handler' ? 'daemonset' : 'deployment'}/${component}`;
        for (const pod of await podsOf(component)) {
          await kill(pod);
          await rolledOut(workload);
        }
        await worksOn(`after-${component}`);
        await guestNoticedNothing();
      });
    }

    test('a volume comes and goes although virt-handler is killed on the way', async () => {
      await world.apply({
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'extra', namespace: 'parts' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '64Mi' } } },
      });
      const handlerOf = async (node: string | undefined) =>
        (await system.pods('kubevirt.io=virt-handler')).find(({ spec }) => spec.nodeName === node)?.metadata.name ?? '';
      const statusOf = async () => (await world.vmi('witness')).status?.volumeStatus?.find(({ name }) => name === 'extra');
      for (const verb of ['addvolume', 'removevolume']) {
        const { code, stderr } = await world.virtctl(verb, 'witness', '--volume-name=extra');
        assert.equal(code, 0, stderr);
        await kill(await handlerOf((await world.vmi('witness')).status?.nodeName));
        const phase = verb === 'addvolume' ? 'Ready' : undefined;
        await eventually(async () => assert.equal((await statusOf())?.phase, phase));
        if (phase) assert.match(await world.inGuest('witness', 'cat /sys/block/sda/size'), /122880/);
      }
      await rolledOut('daemonset/virt-handler');
      await guestNoticedNothing();
    });

    test('without virt-api nothing unchecked gets in, and what was asked meanwhile is done when it is back', async () => {
      const { uid } = (await world.vmi('witness')).metadata;
      // virt-operator would put back what is scaled down, but cannot make Pods where a quota allows none.
      const quota = {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'none', namespace: 'kubevirt' },
        spec: { hard: { pods: '0' } },
      };
      await system.apply(quota);
      try {
        await system.kubectl('delete', 'pods', '-l', 'kubevirt.io=virt-api', '--timeout=400s');
        await eventually(() => assert.rejects(world.apply(world.machine('unchecked')), /failed calling webhook/));
        await world.kubectl('delete', 'vmi', 'witness', '--wait=false');
        await system.kubectl('wait', 'kv/kubevirt', '--for=condition=Degraded', '--timeout=400s');
      } finally {
        await system.kubectl('delete', 'resourcequota', 'none');
      }
      await rolledOut('deployment/virt-api');
      await system.kubectl('wait', 'kv/kubevirt', '--for=condition=Degraded=False', '--timeout=400s');
      await eventually(async () => assert.notEqual((await world.vmi('witness')).metadata.uid, uid));
      await world.untilReady('witness');
      await worksOn('checked');
      bootId = await world.bootIdOf('witness');
    });

    test(`guests run on for ${AWAY_MS / 1000} seconds without the API server, and so does the work when it is back`, async () => {
      const page = `http://${(await world.launcherOf('witness')).status?.podIP}/`;
      const ask = async () => (await fetch(page, { headers: { connection: 'close' }, signal: AbortSignal.timeout(180_000) })).text();
      assert.match(await eventually(ask), /Hello from a virtual machine/);
      await world.cluster.stop('kube-apiserver');
      try {
        for (const end = performance.now() + AWAY_MS; performance.now() < end; ) {
          assert.match(await ask(), /Hello from a virtual machine/);
          await new Promise((resolve) => setTimeout(resolve, 500));
        }
      } finally {
        await world.cluster.startAgain('kube-apiserver');
      }
      await world.cluster.untilReady();
      await worksOn('after-silence');
      await guestNoticedNothing();
    });
  });
}
