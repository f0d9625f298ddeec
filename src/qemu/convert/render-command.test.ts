import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connectQmp, type QmpClient } from '../qmp/client.ts';
import { startQemu, temporaryFolder } from '../qmp/qemu.testing.ts';
import { GOLDEN_MACHINES } from './golden/machines.testing.ts';
import { freePorts, hotplugPorts } from './hotplug-ports.ts';
import { machineFor } from './machine-for.ts';
import type { Device, Part, Pluggable } from './machine-model.ts';
import { renderArguments } from './render-arguments.ts';
import { renderCommand } from './render-command.ts';
import { input, valuesOf } from './vmi.testing.ts';

const OPTIONS = { device: '-device', blockdev: '-blockdev', netdev: '-netdev', object: '-object', chardev: '-chardev' } as const;

for (const [name, given] of Object.entries(GOLDEN_MACHINES)) {
  test(`${name}: what is said over QMP is what the arguments say`, () => {
    const machine = machineFor(given);
    const args = renderArguments(machine);
    for (const [part, option] of Object.entries(OPTIONS)) {
      const commands = machine.parts
        .filter(isPluggable)
        .filter((each) => each.part === part)
        .map(renderCommand);
      const values = valuesOf(args, option).map((value) => (typeof value === 'string' ? chardevOf(value) : value));
      assert.deepEqual(
        commands.map(({ arguments: given }) => given),
        values,
      );
    }
  });
}

test('a running QEMU takes a disk, a card and a console that it could have started with', async (t) => {
  const machine = machineFor(input());
  const [first, second] = freePorts(machine);
  assert.ok(first && second);
  const disk: Pluggable[] = [
    { part: 'blockdev', node: { driver: 'raw', 'node-name': 'image7', file: { driver: 'file', filename: 'late.img' } } },
    { part: 'device', id: 'disk7', driver: 'virtio-blk-pci', place: first, properties: { drive: 'image7', serial: 'late' } },
  ];
  const card: Pluggable[] = [
    { part: 'netdev', id: 'net7', type: 'user', properties: { net: '10.7.0.0/24', ipv6: false } },
    { part: 'device', id: 'nic7', driver: 'virtio-net-pci', place: second, properties: { netdev: 'net7', romfile: '' } },
  ];
  const channel: Pluggable[] = [
    { part: 'chardev', id: 'late', socket: 'late.sock', log: 'late.log' },
    { part: 'object', id: 'rng7', type: 'rng-builtin', properties: {} },
    {
      ...{ part: 'device', id: 'port7', driver: 'virtserialport', place: { kind: 'channel', bus: 'channels.0', number: 7 } },
      properties: { chardev: 'late', name: 'org.example.late' },
    },
  ];
  const late = [...disk, ...card, ...channel];
  const plugged = await running(t, machine.parts);
  for (const part of late) {
    const { execute, arguments: given } = renderCommand(part);
    await plugged.execute(execute, given);
  }
  const started = await running(t, [...machine.parts, ...late]);
  assert.deepEqual(await seen(plugged), await seen(started));
});

test('ports are free until a device has them', () => {
  const ports = hotplugPorts({ memoryKib: 65_536 }, new Map());
  const place = { kind: 'pci', bus: 'hotplug1', slot: 0, function: 0 } as const;
  const disk: Device = { part: 'device', id: 'disk7', driver: 'virtio-blk-pci', place, properties: {} };
  assert.deepEqual(
    freePorts({ parts: [...ports, disk] }).map(({ bus }) => bus),
    ['hotplug0', 'hotplug2'],
  );
});

async function running(t: TestContext, parts: readonly Part[]): Promise<QmpClient> {
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, 'late.img'), Buffer.alloc(1024));
  const args = renderArguments({ ...machineFor(input()), isStartedPaused: true, parts });
  const { qmpPath } = await startQemu(t, { folder, exactArgs: args });
  const qmp = await connectQmp({ path: qmpPath });
  t.after(() => qmp.close());
  return qmp;
}

/** What QEMU tells of its devices and what they are connected to, in an order that does not matter. */
async function seen(qmp: QmpClient): Promise<unknown> {
  const list = async (command: string) => ((await qmp.execute(command)) as object[]).map((each) => JSON.stringify(each)).toSorted();
  const peripherals = await qmp.execute('qom-list', { path: '/machine/peripheral' });
  const ids = (peripherals as { name: string }[]).map(({ name }) => name).toSorted(); // as QEMU's schema says
  return { ids, chardevs: await list('query-chardev'), pci: await list('query-pci'), blocks: await list('query-block') };
}

function isPluggable(part: Part): part is Pluggable {
  return part.part !== 'setting' && part.part !== 'audiodev';
}

/** What QEMU makes of the key=value syntax of a socket. */
function chardevOf(text: string): unknown {
  const { id, path, server, wait, logfile, logappend } = Object.fromEntries(
    text
      .split(',')
      .slice(1)
      .map((word) => word.split('=')),
  );
  const log = logfile === undefined ? {} : { logfile, logappend: logappend === 'on' };
  const data = { addr: { type: 'unix', data: { path } }, server: server === 'on', wait: wait === 'on', ...log };
  return { id, backend: { type: 'socket', data } };
}
