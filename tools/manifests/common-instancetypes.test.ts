import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expandVm } from '../../src/api/kubevirt/instancetype/expand-vm.ts';
import type { VirtualMachine } from '../../src/api/kubevirt/kinds/virtual-machine.ts';
import { commonInstancetypes } from './common-instancetypes.ts';

const all = commonInstancetypes();
const sizes = all.filter((each) => each.kind === 'VirtualMachineClusterInstancetype');
const preferences = all.filter((each) => each.kind === 'VirtualMachineClusterPreference');

test('labels of a size say what the size is', () => {
  for (const { metadata, spec } of sizes) {
    const { labels = {} } = metadata;
    const told = [labels['instancetype.kubevirt.io/cpu'], labels['instancetype.kubevirt.io/memory']];
    assert.deepEqual(told, [String(spec.cpu.guest), spec.memory.guest], metadata.name);
    assert.equal(metadata.name, `u1.${labels['instancetype.kubevirt.io/size']}`);
  }
});

test('u1.small expands with every preference', () => {
  const small = sizes.find(({ metadata }) => metadata.name === 'u1.small');
  assert.ok(small && preferences.length > 0);
  const template = { spec: { domain: { devices: {} }, volumes: [{ name: 'root', containerDisk: { image: 'x:1' } }] } };
  for (const preference of preferences) {
    const vm: VirtualMachine = {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachine',
      metadata: { name: 'a' },
      spec: { runStrategy: 'Halted', template },
    };
    const expanded = expandVm(vm, { instancetype: { object: small }, preference: { object: preference } });
    assert.ok('vm' in expanded, preference.metadata.name);
    const { domain } = expanded.vm.spec.template.spec;
    assert.deepEqual([domain.cpu?.sockets, domain.memory?.guest], [1, '2Gi']);
    assert.deepEqual(domain.devices, {
      rng: {},
      disks: [{ name: 'root', disk: { bus: 'virtio' } }],
      interfaces: [{ name: 'default', masquerade: {}, model: 'virtio' }],
    });
  }
});
