import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance, VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ANNOTATION_EPHEMERAL_VOLUMES } from '../../api/kubevirt/names.ts';
import type { VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import { tinySpec, vm, vmi } from '../../testing/builders.ts';
import { fieldsAwaitingRestart, revisionFor } from './revision.ts';
import { syncHotplug } from './sync-hotplug.ts';

const now = Date.parse('2026-01-01T00:01:00Z');

/** With hotplugged volumes, each `name` or `name:claim`. */
function spec(...plugged: string[]): VmiSpec {
  const pairs = plugged.map((each) => each.split(':')).map(([name = '', claimName = name]) => ({ name, claimName }));
  return {
    ...tinySpec,
    domain: {
      ...tinySpec.domain,
      devices: {
        disks: [...(tinySpec.domain.devices.disks ?? []), ...pairs.map(({ name }) => ({ name, disk: { bus: 'scsi' as const } }))],
      },
    },
    volumes: [
      ...(tinySpec.volumes ?? []),
      ...pairs.map(({ name, claimName }) => ({ name, persistentVolumeClaim: { claimName, hotpluggable: true } })),
    ],
  };
}

const template = (...plugged: string[]): VirtualMachine => ({
  ...vm('Always'),
  spec: { runStrategy: 'Always', template: { spec: spec(...plugged) } },
});
const instance = (plugged: string[], status: Partial<VmiStatus> = {}, ephemeral?: string[]): VirtualMachineInstance => ({
  ...vmi('Running', status, ephemeral && { annotations: { [ANNOTATION_EPHEMERAL_VOLUMES]: JSON.stringify(ephemeral) } }),
  spec: spec(...plugged),
});

/** The hotplugged volumes after the write, or undefined when there is none. */
function synced(machine: VirtualMachine, running: VirtualMachineInstance): string[] | undefined {
  const [action] = syncHotplug({ vm: machine, vmi: running, now });
  if (action?.do !== 'patch') return undefined;
  const { volumes = [] } = (action.patch as { spec: VmiSpec }).spec;
  return volumes.flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
}

test('what the template has comes, and what it has no more goes', () => {
  assert.equal(synced(template(), instance([])), undefined);
  assert.deepEqual(synced(template('a'), instance([])), ['a']);
  assert.deepEqual(synced(template('a', 'b'), instance(['a'])), ['a', 'b']);
  assert.deepEqual(synced(template('b'), instance(['a', 'b'])), ['b']);
  assert.equal(synced(template('a'), instance(['a'])), undefined);
});

test('another claim under the same name comes when the first is out of the guest', () => {
  assert.deepEqual(synced(template('a:new'), instance(['a:old'])), []);
  const leaving = { volumeStatus: [{ name: 'a', target: '', phase: 'Detaching' as const, hotplugVolume: {} }] };
  assert.equal(synced(template('a:new'), instance([], leaving)), undefined);
  assert.deepEqual(synced(template('a:new'), instance([])), ['new']);
});

test('what the instance alone was given stays', () => {
  assert.equal(synced(template(), instance(['mine'], {}, ['mine'])), undefined);
  assert.deepEqual(synced(template('a'), instance(['mine'], {}, ['mine'])), ['mine', 'a']);
});

test('an instance that ends or is moved is left alone', () => {
  const moving = instance([], { migrationState: { migrationUid: 'm', sourceNode: 'n1', startTimestamp: '2026-01-01T00:00:00Z' } });
  assert.equal(synced(template('a'), moving), undefined);
  assert.equal(synced(template('a'), { ...instance([]), status: { phase: 'Succeeded' } }), undefined);
});

test('no restart is asked for what is hotplugged', () => {
  assert.deepEqual(fieldsAwaitingRestart(template('a'), revisionFor(template())), []);
});

test('a medium comes into a drive that the guest was started with, and goes; a new drive waits for a restart', () => {
  const withDrive = (given: VmiSpec, claimName?: string): VmiSpec => ({
    ...given,
    domain: { ...given.domain, devices: { disks: [...(given.domain.devices.disks ?? []), { name: 'cd', cdrom: { bus: 'sata' } }] } },
    volumes: [...(given.volumes ?? []), ...(claimName ? [{ name: 'cd', persistentVolumeClaim: { claimName, hotpluggable: true } }] : [])],
  });
  const machine = (claimName?: string): VirtualMachine => ({
    ...vm('Always'),
    spec: { runStrategy: 'Always', template: { spec: withDrive(spec(), claimName) } },
  });
  const guest = (claimName?: string): VirtualMachineInstance => ({ ...vmi('Running'), spec: withDrive(spec(), claimName) });
  assert.deepEqual(synced(machine('iso'), guest()), ['iso']);
  assert.deepEqual(synced(machine(), guest('iso')), []);
  assert.deepEqual(synced(machine('other'), guest('iso')), []);
  assert.equal(synced(machine('iso'), instance([])), undefined);
  const [eject] = syncHotplug({ vm: machine(), vmi: guest('iso'), now });
  const { disks = [] } = eject?.do === 'patch' ? (eject.patch as { spec: VmiSpec }).spec.domain.devices : {};
  assert.deepEqual(disks.at(-1), { name: 'cd', cdrom: { bus: 'sata' } });
  assert.deepEqual(fieldsAwaitingRestart(machine('iso'), revisionFor(machine())), []);
});
