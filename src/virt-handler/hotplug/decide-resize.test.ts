import assert from 'node:assert/strict';
import { statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { COMPUTE_CONTAINER } from '../../api/launcher/compute.ts';
import { LAUNCHER_VARIABLES } from '../../api/launcher/variables.ts';
import { systemClock } from '../../base/clock.ts';
import { connectQmp } from '../../qemu/qmp/client.ts';
import { startQemu, temporaryFolder } from '../../qemu/qmp/qemu.testing.ts';
import { explain } from '../../reconcile/decision.ts';
import { tinySpec } from '../../testing/builders.ts';
import { noDumps } from '../no-dumps.testing.ts';
import { decideDomain } from '../vmi/decide.ts';
import type { CommandState } from '../vmi/domain-command.ts';
import type { ObservedDomain } from '../vmi/observed.ts';
import { performCommand } from '../vmi/perform-command.ts';
import { deriveDomainStatus } from '../vmi/status.ts';
import { domain, followed, livePod, now, running } from '../vmi/world.testing.ts';
import { decideResizes } from './decide-resize.ts';
import { askPlugged } from './plugged.ts';

const MIB = 2 ** 20;
/** Of a PVC of 64Mi and of 128Mi. */
const [SMALL, LARGE] = [60 * MIB, 120 * MIB];

type Seen = {
  capacity?: string;
  bytes?: number;
  startedWith?: number;
  last?: CommandState;
  moves?: boolean;
  told?: object;
  behind?: string[];
};

function seen({
  capacity = '128Mi',
  bytes = SMALL,
  startedWith = SMALL,
  last,
  moves = false,
  told = {},
  behind = [],
}: Seen): ObservedDomain {
  const disks = [...(tinySpec.domain.devices.disks ?? []), { name: 'data', disk: { bus: 'virtio' as const } }];
  const spec = {
    ...tinySpec,
    domain: { ...tinySpec.domain, devices: { ...tinySpec.domain.devices, disks } },
    volumes: [...(tinySpec.volumes ?? []), { name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
  };
  const info = { claimName: 'data', capacity: { storage: capacity }, volumeMode: 'Filesystem' as const };
  const node = `image${disks.length - 1}`;
  const vmi = running({
    volumeStatus: [{ name: 'data', target: 'vdb', size: SMALL, persistentVolumeClaimInfo: info, ...told }],
    ...(moves && { migrationState: { migrationUid: 'm', startTimestamp: '2026-01-01T00:00:00Z' } }),
  });
  const pod = livePod();
  const env = [{ name: LAUNCHER_VARIABLES.newDiskBytes, value: JSON.stringify({ data: startedWith }) }];
  const containers = pod.spec.containers.map((each) => (each.name === COMPUTE_CONTAINER ? { ...each, env } : each));
  const plugged = { devices: {}, nodes: [node], ports: [], sizes: { [node]: bytes }, behind };
  return {
    vmi: { ...vmi, spec },
    pod: { ...pod, spec: { ...pod.spec, containers } },
    followed,
    domain: domain('running', { plugged, commands: last ? { 'resize data': last } : {} }),
    now,
  };
}

const command = { name: 'resize', node: 'image1', bytes: LARGE } as const;
const failed: CommandState = { command, givenAt: now - 1000, tries: 1, is: 'failed', endedAt: now, reason: 'No space left on device' };
const GROW = ['command resize data: the PVC of volume data has grown'];
const cases: readonly (readonly [string, Seen, string[]])[] = [
  ['a disk whose PVC has grown grows', {}, GROW],
  ['one that is as large as its PVC is left', { bytes: LARGE }, []],
  ['one that is larger is left: nothing shrinks', { bytes: 200 * MIB }, []],
  ['one that somebody put there stays smaller than its PVC', { bytes: MIB, capacity: '64Mi' }, []],
  ['one that could not grow when its guest was started is tried again', { startedWith: LARGE, behind: ['data'] }, GROW],
  ['one that somebody put there grows with its PVC', { bytes: MIB }, GROW],
  ['it waits for the end of a move', { moves: true }, []],
  ['a refusal is tried again later', { last: failed }, ['look again in 29s']],
  ['a refusal of another size does not count', { last: { ...failed, command: { ...command, bytes: 1 } } }, GROW],
  ['a size that makes no sense asks for nothing', { capacity: 'much' }, []],
];
for (const [name, given, then] of cases) test(name, () => assert.deepEqual(explain(decideResizes(seen(given))), then));

test('the status says how large the disk is, and why it is not larger', () => {
  const entry = (given: Seen) => deriveDomainStatus(seen(given), {}).volumeStatus?.[0];
  assert.deepEqual([entry({ bytes: LARGE })?.size, entry({ bytes: LARGE })?.reason], [LARGE, undefined]);
  assert.deepEqual(entry({ last: failed })?.message, 'The disk cannot grow to 120Mi: No space left on device');
  const healed = entry({ bytes: LARGE, told: { reason: 'ResizeFailed', message: 'x' } });
  assert.deepEqual([healed?.reason, healed?.message], [undefined, undefined]);
});

test('growing is told once, and so is that it failed', () => {
  const events = (given: Seen) => decideDomain(seen(given)).actions.flatMap(({ event }) => event?.reason ?? []);
  assert.deepEqual(events({ bytes: LARGE }), ['VolumeResized']);
  assert.deepEqual(events({ bytes: LARGE, told: { size: LARGE } }), []);
  assert.deepEqual(events({ last: failed }), ['ResizeFailed']);
  const message = 'The disk cannot grow to 120Mi: No space left on device';
  assert.deepEqual(events({ last: failed, told: { reason: 'ResizeFailed', message } }), []);
});

test('a real QEMU grows a disk that it runs from, and says so', async (t) => {
  const folder = await temporaryFolder(t);
  const file = join(folder, 'data.img');
  writeFileSync(file, '');
  truncateSync(file, SMALL);
  const node = JSON.stringify({ driver: 'raw', 'node-name': 'image1', file: { driver: 'file', filename: file } });
  const args = ['-blockdev', node, '-device', 'virtio-blk-pci,drive=image1'];
  const { qmpPath } = await startQemu(t, { machine: 'q35', folder, args });
  const qmp = await connectQmp({ path: qmpPath });
  t.after(() => qmp.close());
  assert.equal((await askPlugged(qmp)).sizes?.['image1'], SMALL);
  const noWay = () => Promise.reject(new Error('no way'));
  const performer = { qmp, clock: systemClock, openWay: noWay, openStore: noWay, dumps: noDumps, report: () => {} };
  await performCommand(performer, command);
  assert.deepEqual([(await askPlugged(qmp)).sizes?.['image1'], statSync(file).size], [LARGE, LARGE]);
});
