import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EmbeddedCluster } from './harness.ts';

/** What the guest says about its machine, one fact a line. */
const SCRIPT = `#!/bin/sh
{
  echo chassis $(cat /sys/class/dmi/id/chassis_vendor /sys/class/dmi/id/chassis_serial)
  echo serial $(cat /sys/class/dmi/id/product_serial)
  echo block $(cat /sys/block/vdb/queue/logical_block_size)
  echo processors $(grep -c ^processor /proc/cpuinfo)
  echo features $(grep -m1 -o -w aes /proc/cpuinfo | head -n 1) $(grep -m1 -o -w rdrand /proc/cpuinfo)
  echo cards $(cat /sys/bus/pci/devices/*/device)
  echo tables $(ls /sys/firmware/acpi/tables)
} > /dev/ttyS0
[ ! -e /sys/block/vdd ] || reboot -f
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
      firmware: { serial: 'S-77', bootloader: { bios: {} } },
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
          ...extra,
        ],
      },
    },
    volumes: [
      { name: 'root', containerDisk: { image: 'localhost/guests/tiny:latest' } },
      { name: 'wide', emptyDisk: { capacity: '16Mi' } },
      { name: 'script', cloudInitNoCloud: { userData: SCRIPT } },
      ...extra.map(() => ({ name: 'fourth', emptyDisk: { capacity: '16Mi' } })),
    ],
  },
});

test('what is asked of the board is what the guest finds', async (t) => {
  await using cluster = await EmbeddedCluster.start();

  await t.test('texts, blocks, processor, timers and cards', async () => {
    await cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify(machine('board')) });
    await cluster.until('vmi/board', '.status.phase', 'Running');
    await using console = cluster.console('board');
    const log = await console.expect(/chassis[\s\S]*guest ready/);
    const fact = (name: string) => new RegExp(`^${name} (.*)$`, 'm').exec(log)?.[1]?.trim();
    assert.deepEqual(['chassis', 'serial', 'block', 'processors', 'features'].map(fact), ['Acme, Inc CH1', 'S-77', '4096', '2', 'aes']);
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

  await t.test('a guest that reboots ends its instance when the policy says so', async () => {
    const rebooting = machine('rebooting', { name: 'fourth', disk: { bus: 'virtio' } });
    await cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify(rebooting) });
    await cluster.until('vmi/rebooting', '.status.phase', 'Succeeded');
  });
});
