import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleParts } from './consoles.ts';
import { rootBusOf } from './root-bus.ts';
import { type Devices, input } from './vmi.testing.ts';

function consoles(devices: Devices = {}) {
  const { spec } = input(devices).vmi;
  return consoleParts(spec, rootBusOf(spec));
}

test('a guest without screen and serial console still has its control socket and the agent’s channel, and no window', () => {
  assert.deepEqual(consoles({ autoattachGraphicsDevice: false, autoattachSerialConsole: false }), [
    { part: 'chardev', id: 'qmp', socket: 'qmp.sock' },
    { part: 'setting', words: ['-mon', 'chardev=qmp,mode=control'] },
    { part: 'setting', words: ['-display', 'none'] },
    { part: 'chardev', id: 'agent0', socket: 'agent.sock' },
    {
      ...{ part: 'device', id: 'channels', driver: 'virtio-serial-pci', properties: {} },
      place: { kind: 'pci', bus: 'pcie.0', slot: 1, function: 0 },
    },
    {
      ...{ part: 'device', id: 'agent0', driver: 'virtserialport', place: { kind: 'channel', bus: 'channels.0', number: 1 } },
      properties: { chardev: 'agent0', name: 'org.qemu.guest_agent.0' },
    },
  ]);
});

test('the serial console is logged, and the screen is a unix socket', () => {
  const serial = consoles().find((part) => part.part === 'chardev' && part.id === 'serial0');
  assert.deepEqual(serial, { part: 'chardev', id: 'serial0', socket: 'serial0.sock', log: 'serial0.log' });
  assert.ok(consoles().some((part) => part.part === 'setting' && part.words.includes('unix:vnc.sock,share=force-shared')));
});

test('no log of the serial console when it is switched off', () => {
  const serial = consoles({ logSerialConsole: false }).find((part) => part.part === 'chardev' && part.id === 'serial0');
  assert.deepEqual(serial, { part: 'chardev', id: 'serial0', socket: 'serial0.sock' });
});
