import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { HotplugPhase } from '../../api/kubevirt/hotplug.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { Disk } from '../../api/kubevirt/vmi-spec-schema.ts';
import { ATTACH_EXPORT, pluggedNames } from '../../api/launcher/attachment.ts';
import { systemClock } from '../../base/clock.ts';
import { connectQmp } from '../../qemu/qmp/client.ts';
import { startQemu, temporaryFolder, waitUntil } from '../../qemu/qmp/qemu.testing.ts';
import { explain } from '../../reconcile/decision.ts';
import { tinySpec } from '../../testing/builders.ts';
import { noDumps } from '../no-dumps.testing.ts';
import type { DomainAction } from '../vmi/domain-action.ts';
import type { ObservedDomain } from '../vmi/observed.ts';
import { performCommand } from '../vmi/perform-command.ts';
import { domain, followed, livePod, now, running } from '../vmi/world.testing.ts';
import { decidePlugs } from './decide-hotplug.ts';
import type { DiskLink } from './disk-link.ts';
import { hotplugStatus } from './hotplug-status.ts';
import { askPlugged, type Plugged } from './plugged.ts';

const { device, node } = pluggedNames('data');
const free: Plugged = { devices: { disk0: { bus: 'pcie.0' } }, nodes: ['image0'], ports: ['hotplug0', 'hotplug1'] };
const withNode: Plugged = { ...free, nodes: ['image0', node] };
const withController: Plugged = { ...withNode, devices: { ...free.devices, 'scsi-hotplug': { bus: 'hotplug0' } } };
const plugged: Plugged = { ...withController, devices: { ...withController.devices, [device]: { bus: 'scsi-hotplug.0', target: 0 } } };
const full: Plugged = { ...free, ports: [] };

type Seen = { phase: HotplugPhase; link?: DiskLink; qemu?: Plugged; bus?: 'scsi' | 'virtio'; cdrom?: 'scsi' | 'sata'; isWanted?: boolean };

function seen({ phase, link = 'linked', qemu = free, bus = 'scsi', cdrom, isWanted = true }: Seen): ObservedDomain {
  const status = running({
    volumeStatus: [
      { name: 'root', target: 'vda' },
      { name: 'data', target: '', phase, hotplugVolume: { attachPodName: 'hp-volume-1', attachPodUID: 'pod-2' } },
    ],
  });
  const data: Disk = { name: 'data', ...(cdrom ? { cdrom: { bus: cdrom } } : { disk: { bus } }) };
  const spec = {
    ...tinySpec,
    domain: { ...tinySpec.domain, devices: { disks: [...(tinySpec.domain.devices.disks ?? []), data] } },
    volumes: [...(tinySpec.volumes ?? []), { name: 'data', persistentVolumeClaim: { claimName: 'data', hotpluggable: true } }],
  };
  const vmi: VirtualMachineInstance = isWanted ? { ...status, spec } : status;
  return { vmi, pod: livePod(), followed, domain: domain('running', { plugged: qemu }), links: { data: { is: link } }, now };
}

const drive: Plugged = { ...free, media: { disk1: '' } };
const filled: Plugged = { ...withNode, media: { disk1: node } };

const WANTED = 'volume data is to be seen by the guest';
const LEAVES = 'volume data is to leave the guest';
const SOON = 'look again in 0.25s';
const LATER = 'look again in 5s';
const cases: readonly (readonly [string, Seen, string[], HotplugPhase])[] = [
  ['a Pod that does not listen yet is waited for', { phase: 'AttachedToNode', link: 'absent' }, [SOON], 'AttachedToNode'],
  [
    'its socket is linked',
    { phase: 'AttachedToNode', link: 'missing' },
    ['link disk data pod-2: volume data is attached to the node', SOON],
    'AttachedToNode',
  ],
  ['what is linked can be reached', { phase: 'AttachedToNode' }, [], 'MountedToPod'],
  ['the block node comes first', { phase: 'MountedToPod' }, [`command plug ${node}: ${WANTED}`, LATER], 'MountedToPod'],
  ['then the controller', { phase: 'MountedToPod', qemu: withNode }, [`command plug scsi-hotplug: ${WANTED}`, LATER], 'MountedToPod'],
  ['then the disk', { phase: 'MountedToPod', qemu: withController }, [`command plug ${device}: ${WANTED}`, LATER], 'MountedToPod'],
  [
    'a disk on virtio needs no controller',
    { phase: 'MountedToPod', qemu: withNode, bus: 'virtio' },
    [`command plug ${device}: ${WANTED}`, LATER],
    'MountedToPod',
  ],
  [
    'a medium has a block node',
    { phase: 'MountedToPod', qemu: drive, cdrom: 'sata' },
    [`command plug ${node}: ${WANTED}`, LATER],
    'MountedToPod',
  ],
  [
    'which is put into the drive',
    { phase: 'MountedToPod', qemu: { ...drive, nodes: withNode.nodes }, cdrom: 'sata' },
    [`command insert data: ${WANTED}`, LATER],
    'MountedToPod',
  ],
  ['what is in the drive is ready', { phase: 'MountedToPod', qemu: filled, cdrom: 'sata' }, [], 'Ready'],
  ['a drive that is not there is waited for', { phase: 'MountedToPod', cdrom: 'sata' }, [], 'MountedToPod'],
  [
    'a medium leaves the drive',
    { phase: 'Detaching', qemu: filled, isWanted: false },
    [`command eject data: ${LEAVES}`, LATER],
    'Detaching',
  ],
  ['what the guest has is ready', { phase: 'MountedToPod', qemu: plugged }, [], 'Ready'],
  ['without a port nothing is tried', { phase: 'MountedToPod', qemu: full }, [], 'MountedToPod'],
  [
    'a Pod that came back is linked again',
    { phase: 'Ready', link: 'replaced', qemu: plugged },
    ['link disk data pod-2: volume data is attached to the node', SOON],
    'Ready',
  ],
  ['one that does not listen yet is waited for', { phase: 'Ready', link: 'stale', qemu: plugged }, [SOON], 'Ready'],
  [
    'a guest is asked to let go',
    { phase: 'Detaching', qemu: plugged, isWanted: false },
    [`command unplug data: ${LEAVES}`, LATER],
    'Detaching',
  ],
  [
    'then the block node goes',
    { phase: 'Detaching', qemu: withController, isWanted: false },
    [`command close data: ${LEAVES}`, LATER],
    'Detaching',
  ],
  ['then the socket', { phase: 'Detaching', isWanted: false }, [`unlink disk data: ${LEAVES}`, SOON], 'Detaching'],
  [
    'also that of a Pod that is gone',
    { phase: 'Detaching', link: 'stale', isWanted: false },
    [`unlink disk data: ${LEAVES}`, SOON],
    'Detaching',
  ],
  ['what has left is out', { phase: 'Detaching', link: 'missing', isWanted: false }, [], 'UnMountedFromPod'],
  ['one that is wanted again leaves first', { phase: 'Detaching', qemu: plugged }, [`command unplug data: ${LEAVES}`, LATER], 'Detaching'],
];

for (const [name, given, then, phase] of cases)
  test(name, () => {
    const looked = seen(given);
    assert.deepEqual(explain(decidePlugs(looked)), then);
    assert.equal(hotplugStatus(looked).volumeStatus?.find((each) => each.name === 'data')?.phase, phase);
  });

test('a volume without a place, one that QEMU cannot reach, and one that it refused, say why', () => {
  const message = (looked: ObservedDomain) => hotplugStatus(looked).volumeStatus?.find(({ name }) => name === 'data')?.message;
  assert.equal(
    message(seen({ phase: 'MountedToPod', qemu: full })),
    'Volume data cannot be plugged in: all 0 ports for devices that are plugged in are taken',
  );
  assert.equal(
    message({ ...seen({ phase: 'AttachedToNode' }), links: { data: { is: 'stale', failure: 'another file system' } } }),
    'The socket of volume data cannot be put into the folder of QEMU: another file system',
  );
  const looked = seen({ phase: 'MountedToPod' });
  const command = { name: 'plug', part: { part: 'object', id: node, type: 'x', properties: {} } } as const;
  const failed = { command, givenAt: now, tries: 1, is: 'failed', endedAt: now, reason: 'QEMU refused' } as const;
  assert.equal(message({ ...looked, domain: { ...looked.domain, commands: { [`plug ${node}`]: failed } } }), 'QEMU refused');
});

test('a ready disk on SCSI is the first sd, and one on virtio the next vd', () => {
  const target = (bus: 'scsi' | 'virtio') =>
    hotplugStatus(seen({ phase: 'MountedToPod', qemu: plugged, bus })).volumeStatus?.find(({ name }) => name === 'data')?.target;
  assert.deepEqual([target('scsi'), target('virtio')], ['sda', 'vdb']);
});

/** Serves a file as the Pod of a volume does. */
async function serveDisk(t: TestContext, folder: string): Promise<void> {
  writeFileSync(join(folder, 'data.img'), Buffer.alloc(2 ** 20));
  const { socket } = pluggedNames('data');
  const daemon = spawn(
    'qemu-storage-daemon',
    [
      ...['--blockdev', JSON.stringify({ driver: 'file', 'node-name': 'd', filename: 'data.img' })],
      ...['--nbd-server', JSON.stringify({ addr: { type: 'unix', path: socket }, 'max-connections': 1 })],
      ...['--export', JSON.stringify({ type: 'nbd', id: 'd', 'node-name': 'd', name: ATTACH_EXPORT, writable: true })],
      ...['--pidfile', 'daemon.pid'], // written when everything before it is there: its socket listens before it has anything to offer
    ],
    { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  t.after(async () => {
    daemon.kill('SIGKILL');
    if (daemon.exitCode === null && daemon.signalCode === null) await once(daemon, 'exit');
  });
  await waitUntil(async () => existsSync(join(folder, 'daemon.pid')), 'the daemon serves the disk');
}

for (const bus of ['scsi', 'virtio'] as const)
  test(`a real QEMU takes a disk on ${bus} step by step, each from what it shows itself, and lets it go`, async (t) => {
    const folder = await temporaryFolder(t);
    await serveDisk(t, folder);
    const ports = [0, 1].flatMap((index) => [
      '-device',
      `pcie-root-port,id=hotplug${index},chassis=${index + 1},addr=0x1e.${index},multifunction=on`,
    ]);
    const { qmpPath } = await startQemu(t, { machine: 'q35', folder, args: ports });
    const qmp = await connectQmp({ path: qmpPath });
    t.after(() => qmp.close());
    const performer = {
      qmp,
      clock: systemClock,
      openWay: () => Promise.reject(new Error('no way')),
      openStore: () => Promise.reject(new Error('no way')),
      dumps: noDumps,
      report: () => {},
    };
    const steps: string[] = [];
    const follow = async (given: Omit<Seen, 'qemu'>) => {
      // Nothing is remembered between two steps: whoever is killed goes on.
      for (let step = 0; step < 10; step++) {
        const looked = seen({ ...given, bus, qemu: await askPlugged(qmp) });
        const command = decidePlugs(looked).actions.find((action: DomainAction) => action.do === 'command');
        if (command?.do !== 'command') return;
        steps.push(command.id);
        await performCommand(performer, command.command);
      }
    };
    await follow({ phase: 'MountedToPod' });
    assert.ok(device in (await askPlugged(qmp)).devices);
    assert.deepEqual(steps, [`plug ${node}`, ...(bus === 'scsi' ? ['plug scsi-hotplug'] : []), `plug ${device}`]);
    if (bus === 'virtio') return; // without a guest nobody lets go of a PCI device
    await follow({ phase: 'Detaching', isWanted: false });
    const { devices, nodes } = await askPlugged(qmp);
    assert.deepEqual([device in devices, nodes.includes(node)], [false, false]);
  });

for (const bus of ['scsi', 'sata'] as const)
  test(`a real QEMU takes a medium into an empty drive on ${bus}, and gives it back`, async (t) => {
    const folder = await temporaryFolder(t);
    await serveDisk(t, folder);
    const controller = bus === 'scsi' ? ['-device', 'virtio-scsi-pci,id=scsi0'] : [];
    const device = bus === 'scsi' ? 'scsi-cd,id=disk1,bus=scsi0.0' : 'ide-cd,id=disk1,bus=ide.0';
    const { qmpPath } = await startQemu(t, { machine: 'q35', folder, args: [...controller, '-device', device] });
    const qmp = await connectQmp({ path: qmpPath });
    t.after(() => qmp.close());
    const noWay = () => Promise.reject(new Error('no way'));
    const performer = { qmp, clock: systemClock, openWay: noWay, openStore: noWay, dumps: noDumps, report: () => {} };
    const steps: string[] = [];
    const follow = async (given: Omit<Seen, 'qemu'>) => {
      for (let step = 0; step < 10; step++) {
        const command = decidePlugs(seen({ ...given, cdrom: bus, qemu: await askPlugged(qmp) })).actions.find(
          (action: DomainAction) => action.do === 'command',
        );
        if (command?.do !== 'command') return;
        steps.push(command.id);
        await performCommand(performer, command.command);
        await performCommand(performer, command.command).catch(() => {}); // a step that was done twice does no harm
      }
    };
    assert.deepEqual((await askPlugged(qmp)).media, { disk1: '' });
    await follow({ phase: 'MountedToPod' });
    assert.deepEqual((await askPlugged(qmp)).media, { disk1: node });
    await follow({ phase: 'Detaching', isWanted: false });
    const { media, nodes } = await askPlugged(qmp);
    assert.deepEqual([media, nodes.includes(node)], [{ disk1: '' }, false]);
    assert.deepEqual(steps, [`plug ${node}`, 'insert data', 'eject data', 'close data']);
  });
