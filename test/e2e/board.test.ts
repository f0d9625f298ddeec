import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EmbeddedCluster } from './harness.ts';

/** What the guest says about its machine, one fact a line. */
const SCRIPT = `#!/bin/sh
{
  echo
  echo chassis $(cat /sys/class/dmi/id/chassis_vendor /sys/class/dmi/id/chassis_serial)
  echo serial $(cat /sys/class/dmi/id/product_serial)
  echo block $(cat /sys/block/vdb/queue/logical_block_size)
  echo processors $(grep -c ^processor /proc/cpuinfo)
  echo features $(grep -m1 -o -w aes /proc/cpuinfo | head -n 1) $(grep -m1 -o -w rdrand /proc/cpuinfo)
  echo cards $(cat /sys/bus/pci/devices/*/device)
  echo tables $(ls /sys/firmware/acpi/tables)
  echo drive $(grep -a -o '"tags":."lan".' /dev/vdd | head -n 1)
  echo files $(grep -a -o 'from a ConfigMap' /dev/vde | head -n 1)
  echo place $(ls /sys/bus/pci/devices/0000:00:15.0/virtio*/net)
} > /dev/ttyS0
[ ! -e /sys/block/vdf ] || reboot -f
`;

const machine = (name: string, ...extra: object[]) => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstance',
  metadata: { name },
  spec: {
    architecture: 'amd64',
    terminationGracePeriodSeconds: 0,
    domain: {
      rebootPolicy: 'Terminate',
      ioThreadsPolicy: 'auto',
      chassis: { manufacturer: 'Acme, Inc', serial: 'CH1' },
      firmware: { serial: 'S-77', bootloader: { bios: { useSerial: true } } },
      cpu: {
        cores: 2,
        features: [
          { name: 'aes', policy: 'require' },
          { name: 'rdrand', policy: 'disable' },
        ],
      },
      memory: { guest: '128Mi' },
      clock: { utc: {}, timer: { hpet: { present: false }, pit: { tickPolicy: 'delay' }, rtc: { tickPolicy: 'catchup' }, hyperv: {} } },
      features: { acpi: {}, smm: { enabled: true }, kvm: { hidden: true }, hyperv: { relaxed: {}, synictimer: {}, spinlocks: {} } },
      devices: {
        autoattachMemBalloon: false,
        inputs: [{ name: 'tablet', type: 'tablet', bus: 'usb' }],
        watchdog: { name: 'dog', i6300esb: {} },
        sound: { name: 'music', model: 'ac97' },
        video: { type: 'virtio' },
        disks: [
          { name: 'root', disk: { bus: 'virtio' }, errorPolicy: 'stop', io: 'threads', dedicatedIOThread: true },
          { name: 'wide', disk: { bus: 'virtio' }, blockSize: { custom: { logical: 4096, physical: 4096 } } },
          { name: 'script', disk: { bus: 'virtio' } },
          { name: 'drive', disk: { bus: 'virtio' } },
          { name: 'files', disk: { bus: 'virtio' } },
          ...extra,
        ],
        interfaces: [{ name: 'default', masquerade: {}, pciAddress: '0000:00:15.0', tag: 'lan' }],
      },
    },
    networks: [{ name: 'default', pod: {} }],
    volumes: [
      { name: 'root', containerDisk: { image: 'localhost/guests/tiny:latest' } },
      { name: 'wide', emptyDisk: { capacity: '16Mi' } },
      { name: 'script', cloudInitNoCloud: { userData: SCRIPT } },
      { name: 'drive', cloudInitConfigDrive: { userData: '#!/bin/true' } },
      { name: 'files', configMap: { name: 'files' } },
      ...extra.map(() => ({ name: 'fourth', emptyDisk: { capacity: '16Mi' } })),
    ],
  },
});

test('what is asked of the board is what the guest finds', async (t) => {
  await using cluster = await EmbeddedCluster.start();

  const files = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'files' }, data: { 'note.txt': 'from a ConfigMap' } };
  await cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify(files) });

  await t.test('texts, blocks, processor, timers, cards and disks with files', async () => {
    await cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify(machine('board')) });
    await cluster.until('vmi/board', '.status.phase', 'Running');
    await using console = cluster.console('board');
    const log = await console.expect(/SeaBIOS[\s\S]*chassis[\s\S]*guest ready/);
    const fact = (name: string) => new RegExp(`^${name} (.*)$`, 'm').exec(log)?.[1]?.trim();
    assert.deepEqual(['chassis', 'serial', 'block', 'processors', 'features'].map(fact), ['Acme, Inc CH1', 'S-77', '4096', '2', 'aes']);
    assert.deepEqual(['drive', 'files', 'place'].map(fact), ['"tags":["lan"]', 'from a ConfigMap', 'eth0']);
    const cards = fact('cards')?.split(' ') ?? [];
    const [watchdog, ac97, virtioGpu, xhci, balloon] = ['0x25ab', '0x2415', '0x1050', '0x000d', '0x1002'].map((card) =>
      cards.includes(card),
    );
    assert.deepEqual(
      { watchdog, ac97, virtioGpu, xhci, balloon },
      { watchdog: true, ac97: true, virtioGpu: true, xhci: true, balloon: false },
    );
    assert.ok(!fact('tables')?.includes('HPET'), fact('tables'));
    await cluster.must('kubectl', ['delete', 'vmi', 'board']);
  });

  await t.test('a machine that no node has room for is taken, and says that it waits', async () => {
    const { metadata, spec, ...rest } = machine('giant');
    const domain = { ...spec.domain, resources: { requests: { memory: '1Ei', cpu: '1M' } } };
    const vm = { ...rest, kind: 'VirtualMachine', metadata, spec: { runStrategy: 'Always', template: { spec: { ...spec, domain } } } };
    await cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify(vm) });
    await cluster.until('vm/giant', '.status.printableStatus', 'ErrorUnschedulable');
    await cluster.must('kubectl', ['delete', 'vm', 'giant']);
  });

  await t.test('a guest that reboots ends its instance when the policy says so', async () => {
    const rebooting = machine('rebooting', { name: 'fourth', disk: { bus: 'virtio' } });
    await cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify(rebooting) });
    await cluster.until('vmi/rebooting', '.status.phase', 'Succeeded');
  });
});
