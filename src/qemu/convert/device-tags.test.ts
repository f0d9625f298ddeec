import assert from 'node:assert/strict';
import { test } from 'node:test';
import { taggedDevices } from './device-tags.ts';
import { input } from './vmi.testing.ts';

test('devices with a tag are told apart by where the guest finds them', () => {
  const { vmi } = input({
    disks: [
      { name: 'root', disk: { bus: 'virtio' }, tag: 'system', serial: 's1' },
      { name: 'data', disk: { bus: 'scsi' }, tag: 'db' },
      { name: 'cd', cdrom: { bus: 'sata' }, tag: 'installer' },
      { name: 'stick', disk: { bus: 'usb' }, tag: 'stick' },
      { name: 'plain', disk: { bus: 'virtio' } },
    ],
    interfaces: [{ name: 'default', masquerade: {}, macAddress: '02:11:22:33:44:55', tag: 'lan' }],
  });
  assert.deepEqual(taggedDevices(vmi), [
    { type: 'disk', bus: 'pci', address: '0000:00:03.0', serial: 's1', tags: ['system'] },
    { type: 'disk', bus: 'scsi', address: '0:0:0:0', tags: ['db'] },
    { type: 'disk', bus: 'sata', tags: ['installer'] },
    { type: 'disk', bus: 'usb', tags: ['stick'] },
    { type: 'nic', bus: 'pci', address: '0000:00:07.0', mac: '02:11:22:33:44:55', tags: ['lan'] },
  ]);
});

test('a machine without tags says nothing of its devices', () => {
  assert.deepEqual(taggedDevices(input({ disks: [{ name: 'root', disk: {} }] }).vmi), []);
});
