import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { vm } from '../../testing/builders.ts';
import { vmiFor } from './vmi-for.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const plain = { isPaused: false, revisionName: 'r1', now };
const uuidOf = (of: VirtualMachine) => vmiFor(of, plain).spec.domain.firmware?.uuid;

test('the firmware UUID is the same at every start of a VM and differs between VMs', () => {
  const one = vm('Always', {}, { uid: 'a' });
  assert.equal(uuidOf(one), uuidOf(vm('Manual', { created: true }, { uid: 'a', generation: 9 })));
  assert.notEqual(uuidOf(one), uuidOf(vm('Always', {}, { uid: 'b', namespace: 'other' })));
  assert.match(uuidOf(one) ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('the serial number is the same at every start of a VM, differs between VMs, and is not the UUID', () => {
  const serialOf = (uid: string) => vmiFor(vm('Always', {}, { uid }), plain).spec.domain.firmware?.serial;
  assert.equal(serialOf('a'), serialOf('a'));
  assert.equal(new Set([serialOf('a'), serialOf('b'), uuidOf(vm('Always', {}, { uid: 'a' }))]).size, 3);
});

test('a firmware UUID and a serial number of the template win', () => {
  const one = vm('Always');
  const { template } = one.spec;
  const firmware = { uuid: 'mine', serial: 'S1' };
  const made = vmiFor({ ...one, spec: { template: { spec: { ...template.spec, domain: { ...template.spec.domain, firmware } } } } }, plain);
  assert.deepEqual(made.spec.domain.firmware, firmware);
});

test('an instance is held by both finalizers and belongs to its VM', () => {
  const metadata = { labels: { a: 'b' }, annotations: { c: 'd' }, creationTimestamp: null };
  const one = vm('Always', {}, { generation: 7 });
  const made = vmiFor({ ...one, spec: { template: { ...one.spec.template, metadata } } }, { ...plain, isPaused: true });
  assert.deepEqual(made.metadata, {
    name: 'db',
    namespace: 'default',
    labels: { a: 'b' },
    annotations: { c: 'd', 'kubevirt.io/vm-generation': '7' },
    ownerReferences: [
      { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name: 'db', uid: 'vm-1', controller: true, blockOwnerDeletion: true },
    ],
    finalizers: ['kubevirt.io/virtualMachineControllerFinalize', 'kubevirt.io/foregroundDeleteVirtualMachine'],
  });
  assert.equal(made.spec.startStrategy, 'Paused');
  assert.equal(made.status?.virtualMachineRevisionName, 'r1');
});

test('old spellings become today’s', () => {
  const one = vm('Always');
  const spec = {
    domain: { devices: { disks: [{ name: 'registrydisk', volumeName: 'registryvolume', disk: { bus: 'virtio' as const } }] } },
    volumes: [
      { name: 'registryvolume', registryDisk: { image: 'x' } },
      { name: 'cloudinitvolume', cloudInitNoCloud: { userData: 'y' } },
    ],
  };
  const made = vmiFor({ ...one, spec: { template: { spec } } }, plain).spec;
  assert.deepEqual(made.volumes, [{ name: 'registryvolume', containerDisk: { image: 'x' } }, spec.volumes[1]]);
  assert.deepEqual(made.domain.devices.disks, [
    { name: 'registryvolume', disk: { bus: 'virtio' } },
    { name: 'cloudinitvolume', disk: {} },
  ]);
});
