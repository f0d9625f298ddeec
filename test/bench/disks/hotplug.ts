/** From `virtctl addvolume` until the guest has the disk, and from the patch of a PVC until the guest sees its size; beside what a call of virtctl costs. */
import { EmbeddedCluster } from '../../e2e/harness.ts';
import { median } from '../figures.ts';
import { type DiskBenchOptions, type DiskRow, timed } from './row.ts';

const VM = 'plugged';
const claim = (name: string) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '64Mi' } } },
});

export async function measureHotplug({ rounds }: DiskBenchOptions): Promise<DiskRow[]> {
  await using cluster = await EmbeddedCluster.start();
  const disks = ['root', 'data'].map((name) => ({ name, disk: { bus: 'virtio' } }));
  const volumes = [
    { name: 'root', containerDisk: { image: 'localhost/guests/tiny:latest' } },
    { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
  ];
  const machine = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name: VM },
    spec: { runStrategy: 'Always', template: { spec: { domain: { memory: { guest: '128Mi' }, devices: { disks } }, volumes } } },
  };
  const items = [claim('data'), claim('extra'), machine];
  await cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) });
  await cluster.untilCondition(`vmi/${VM}`, 'AgentConnected');
  const inGuest = (script: string) => cluster.must('virtctl', ['exec', VM, '--', 'sh', '-c', script]);
  const until = (test: string) => inGuest(`until ${test}; do usleep 5000; done`);
  const [plugs, grows, calls]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    calls.push(await timed(() => cluster.must('virtctl', ['ls'])));
    plugs.push(
      await timed(() => Promise.all([until('[ -b /dev/sda ]'), cluster.must('virtctl', ['addvolume', VM, '--volume-name', 'extra'])])),
    );
    await cluster.must('virtctl', ['removevolume', VM, '--volume-name', 'extra']);
    while ((await cluster.field('vmi', VM, '.status.volumeStatus[?(@.name=="extra")].phase')) !== '');
    const before = (await inGuest('cat /sys/block/vdb/size')).trim();
    const size = `${64 + 16 * (round + 1)}Mi`;
    grows.push(
      await timed(() =>
        Promise.all([until(`[ $(cat /sys/block/vdb/size) -gt ${before} ]`), cluster.must('virtctl', ['resize', VM, size])]),
      ),
    );
  }
  const call = { name: 'a call of virtctl', value: median(calls) };
  return [
    { name: 'hotplug until the guest has it', ours: median(plugs), beside: call, unit: 'ms' },
    { name: 'resize until the guest sees it', ours: median(grows), beside: call, unit: 'ms' },
  ];
}
