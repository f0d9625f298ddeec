import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { VirtualMachineRestore } from '../../api/kubevirt/kinds/vm-restore.ts';
import type { VirtualMachineSnapshotContent } from '../../api/kubevirt/kinds/vm-snapshot-content.ts';
import { vm, vmi } from '../../testing/builders.ts';
import type { ObservedVmRestore } from './observed.ts';
import { giveMemory, whyNoMemory } from './restored-memory.ts';

const first = vm('Halted', {}, { name: 'first', uid: 'u-first' });
const second = vm('Halted', {}, { name: 'second', uid: 'u-second' });
const restore = {
  apiVersion: 'snapshot.kubevirt.io/v1beta1',
  kind: 'VirtualMachineRestore',
  metadata: { name: 'r', namespace: 'default', uid: 'u-r' },
  spec: { target: { kind: 'VirtualMachine', name: 'second' }, virtualMachineSnapshotName: 'warm' },
} as VirtualMachineRestore;

function contentWith({ guestAgent = true, model }: { guestAgent?: boolean; model?: string } = {}): VirtualMachineSnapshotContent {
  const { spec } = vmi('Running');
  const interfaces = [{ name: 'default', masquerade: {}, macAddress: '02:00:00:00:00:01', ...(model && { model }) }];
  const domain = { ...spec.domain, firmware: { uuid: 'uuid-first' }, devices: { ...spec.domain.devices, interfaces } };
  const volumes = [{ name: 'root', persistentVolumeClaim: { claimName: 'first-root' } }];
  const instance = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { name: 'first' },
    spec: { ...spec, domain, volumes },
  };
  const memory = {
    persistentVolumeClaim: { metadata: { name: 'm' }, spec: {} },
    volumeSnapshotName: 'v',
    digest: 'd',
    bytes: 5,
    guestAgent,
    instance,
  };
  const source = { virtualMachine: { metadata: { name: 'first', uid: 'u-first' }, spec: first.spec } };
  const volumeBackups = [
    { volumeName: 'root', persistentVolumeClaim: { metadata: { name: 'first-root' }, spec: {} }, volumeSnapshotName: 'x' },
  ];
  return { spec: { source, volumeBackups, memory } } as unknown as VirtualMachineSnapshotContent;
}

function seen(content: VirtualMachineSnapshotContent, target: ObservedVmRestore['vm']): ObservedVmRestore {
  return { restore, content, vm: target, claims: new Map(), lateClasses: new Set(), now: 0 };
}

function given(target: typeof first) {
  const content = contentWith();
  const [record, status] = giveMemory(seen(content, target), target, content);
  assert.ok(record?.do === 'create' && status?.do === 'patch');
  const instance = (record.object as unknown as { data: VirtualMachineInstance }).data;
  const [card] = instance.spec.domain.devices.interfaces ?? [];
  const { suspension } = (status.patch as { status: { suspension: { origin?: object; claimName: string } } }).status;
  const { name, ownerReferences } = instance.metadata;
  return { name, owner: ownerReferences?.[0]?.uid, uuid: instance.spec.domain.firmware?.uuid, mac: card?.macAddress, suspension, instance };
}

test('the machine that was kept is what it was, on its new disks', () => {
  const { name, uuid, mac, suspension, instance } = given(first);
  assert.deepEqual([name, uuid, mac, suspension.origin], ['first', 'uuid-first', '02:00:00:00:00:01', undefined]);
  assert.deepEqual(instance.spec.volumes, [{ name: 'root', persistentVolumeClaim: { claimName: 'restore-u-r-root' } }]);
  assert.equal(suspension.claimName, 'restore-u-r--memory');
});

test('another machine has its own firmware and addresses, and its guest is told', () => {
  const { name, owner, uuid, mac, suspension } = given(second);
  assert.deepEqual([name, owner, mac], ['second', 'u-second', undefined]);
  assert.notEqual(uuid, 'uuid-first');
  assert.deepEqual(suspension.origin, { name: 'first', firmwareUUID: 'uuid-first' });
});

test('a guest that cannot be told who it is goes on in its own machine alone', () => {
  const why = (content: VirtualMachineSnapshotContent, target?: typeof first) => whyNoMemory(seen(content, target));
  assert.match(why(contentWith({ guestAgent: false }), second) ?? '', /guest without an agent: nobody can tell it/);
  assert.match(why(contentWith({ guestAgent: false })) ?? '', /guest without an agent/);
  assert.match(why(contentWith({ model: 'e1000' }), second) ?? '', /card default is no virtio/);
  assert.deepEqual([why(contentWith({ guestAgent: false }), first), why(contentWith(), second)], [undefined, undefined]);
});
