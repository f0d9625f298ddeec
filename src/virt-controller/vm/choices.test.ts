/** Machines that name an instance type and a preference, through both controllers until nothing changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerRevision } from '../../api/core/controller-revision.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { conditionOf, type KubeObject } from '../../api/meta.ts';
import type { Action } from '../../reconcile/decision.ts';
import { vm } from '../../testing/builders.ts';
import { World } from '../world.testing.ts';

const apiVersion = 'instancetype.kubevirt.io/v1beta1';
const ended = { terminated: { exitCode: 0, reason: 'Completed', finishedAt: '2026-01-01T00:00:00Z' } };

function type(cpus: number, name = 'small'): KubeObject {
  const spec = { cpu: { guest: cpus }, memory: { guest: '128Mi' } };
  return { apiVersion, kind: 'VirtualMachineClusterInstancetype', metadata: { name, uid: name, generation: cpus }, spec } as KubeObject;
}

const linux = {
  apiVersion,
  kind: 'VirtualMachinePreference',
  metadata: { name: 'linux', namespace: 'default', uid: 'linux', generation: 1 },
  spec: { cpu: { preferredCPUTopology: 'cores' } },
} as KubeObject;

function machine(): VirtualMachine {
  const plain = vm('Always', {}, { finalizers: [], uid: undefined });
  const spec = {
    runStrategy: 'Always' as const,
    instancetype: { name: 'small', kind: 'VirtualMachineClusterInstancetype' },
    preference: { name: 'linux', kind: 'VirtualMachinePreference' },
    template: { spec: { domain: { devices: {} } } },
  };
  return { ...plain, spec };
}

function worldWith(...objects: KubeObject[]): World {
  const world = new World();
  for (const object of objects) world.put(object);
  world.settle();
  return world;
}

function copies(world: World): string[] {
  const all = world.list<ControllerRevision>('ControllerRevision').map(({ metadata }) => metadata.name);
  return all.filter((name) => !name.startsWith('revision-start-vm-')).sort();
}

function restart(world: World): void {
  world.boot();
  world.edit('VirtualMachine', { spec: { runStrategy: 'Halted' } });
  world.settle();
  world.handler('Succeeded');
  world.settle();
  world.kubelet(ended);
  world.settle();
  world.edit('VirtualMachine', { spec: { runStrategy: 'Always' } });
  world.now += 5_000;
  world.settle();
}

const cpuOf = (world: World) => world.vmi?.spec.domain.cpu;
const failureOf = (world: World) => conditionOf(world.vm?.status?.conditions, 'Failure');

test('the instance is of the size of its type, arranged as the preference likes it, and says both', () => {
  const world = worldWith(type(2), linux, machine());
  assert.deepEqual(cpuOf(world), { sockets: 1, cores: 2, threads: 1 });
  assert.deepEqual(world.vmi?.metadata.annotations, {
    'kubevirt.io/cluster-instancetype-name': 'small',
    'kubevirt.io/preference-name': 'linux',
    'kubevirt.io/vm-generation': '1',
  });
  const { instancetypeRef, preferenceRef } = world.vm?.status ?? {};
  assert.deepEqual(instancetypeRef, {
    name: 'small',
    kind: 'VirtualMachineClusterInstancetype',
    controllerRevisionRef: { name: 'db-small-v1beta1-small-2' },
  });
  assert.deepEqual(copies(world), ['db-linux-v1beta1-linux-1', preferenceRef && instancetypeRef?.controllerRevisionRef?.name]);
});

test('a type that is edited or gone does not change a machine that has its copy', () => {
  const world = worldWith(type(2), linux, machine());
  world.put(type(4));
  restart(world);
  assert.equal(cpuOf(world)?.cores, 2);
  const [gone] = world.list('VirtualMachineClusterInstancetype');
  if (gone) world.drop(gone);
  restart(world);
  assert.equal(cpuOf(world)?.cores, 2);
  assert.equal(failureOf(world), undefined);
});

test('a machine whose type is not there says so, and starts when it comes', () => {
  const world = worldWith(linux, machine());
  assert.equal(world.vmi, undefined);
  assert.deepEqual(
    [failureOf(world)?.reason, failureOf(world)?.message, world.vm?.status?.printableStatus],
    [
      'FailedFindInstancetype',
      'Failure to find instancetype: virtualmachineclusterinstancetypes.instancetype.kubevirt.io "small" not found',
      'Stopped',
    ],
  );
  world.put(type(2));
  world.settle();
  assert.equal(cpuOf(world)?.cores, 2);
  assert.equal(failureOf(world), undefined);
});

test('a type that contradicts the machine by the time of its start is told by its field', () => {
  const given = machine();
  const contradicting = { ...given, spec: { ...given.spec, template: { spec: { domain: { cpu: { cores: 1 }, devices: {} } } } } };
  const world = worldWith(type(2), linux, contradicting);
  assert.equal(world.vmi, undefined);
  assert.deepEqual(
    [failureOf(world)?.reason, /domain\.cpu\.cores conflicts/.test(failureOf(world)?.message ?? '')],
    ['FailedCreate', true],
  );
  world.edit('VirtualMachine', { spec: { runStrategy: 'Halted' } });
  world.settle();
  assert.equal(world.vm?.status?.printableStatus, 'Stopped');
});

test('another type waits for a restart, and the copy of the old one goes with the machine at rest', () => {
  const world = worldWith(type(2), type(3, 'large'), linux, machine());
  world.boot();
  world.edit('VirtualMachine', { spec: { instancetype: { name: 'large' } } });
  world.settle();
  assert.equal(cpuOf(world)?.cores, 2);
  assert.match(conditionOf(world.vm?.status?.conditions, 'RestartRequired')?.message ?? '', /: instancetype$/);
  restart(world);
  assert.equal(cpuOf(world)?.cores, 3);
  assert.equal(conditionOf(world.vm?.status?.conditions, 'RestartRequired'), undefined);
  assert.deepEqual(copies(world), ['db-large-v1beta1-large-3', 'db-linux-v1beta1-linux-1']);
});

test('a choice that is taken back is no longer told', () => {
  const world = worldWith(type(2), linux, machine());
  world.edit('VirtualMachine', { spec: { preference: null } });
  world.settle();
  assert.equal(world.vm?.status?.preferenceRef, undefined);
});

test('a named copy is taken instead of the type', () => {
  const given = machine();
  const world = new World();
  world.put(type(2));
  world.put(linux);
  world.put({
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: { name: 'theirs', namespace: 'default' },
    data: {
      apiVersion,
      kind: 'VirtualMachineClusterInstancetype',
      metadata: { name: 'small' },
      spec: { cpu: { guest: 7 }, memory: { guest: '1Gi' } },
    },
  } as KubeObject);
  const named: VirtualMachine = { ...given, spec: { ...given.spec, instancetype: { ...given.spec.instancetype, revisionName: 'theirs' } } };
  world.put(named);
  world.settle();
  assert.equal(cpuOf(world)?.cores, 7);
  assert.equal(world.vm?.status?.instancetypeRef?.controllerRevisionRef?.name, 'theirs');
});

test('a copy that holds something else is refused', () => {
  const given = machine();
  const world = new World();
  world.put({
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: { name: 'theirs', namespace: 'default' },
    data: { spec: 1 },
  } as KubeObject);
  const named: VirtualMachine = { ...given, spec: { ...given.spec, instancetype: { name: 'small', revisionName: 'theirs' } } };
  world.put(named);
  world.settle();
  assert.match(failureOf(world)?.message ?? '', /ControllerRevision theirs does not hold an instance type/);
});

test('where the installation wants it so, both are written into the machine in their place', () => {
  const world = new World();
  world.referencePolicy = 'expand';
  for (const object of [type(2), linux, machine()]) world.put(object);
  world.settle();
  const { instancetype, preference, template } = world.vm?.spec ?? {};
  assert.deepEqual([instancetype, preference, template?.spec.domain.cpu], [undefined, undefined, { sockets: 1, cores: 2, threads: 1 }]);
  assert.deepEqual([cpuOf(world)?.cores, copies(world), world.vm?.status?.instancetypeRef], [2, [], undefined]);
  world.put(type(4));
  restart(world);
  assert.deepEqual([cpuOf(world)?.cores, failureOf(world)], [2, undefined]);
});

test('what cannot be written out is told, and no copy is made of it', () => {
  const given = machine();
  const world = new World();
  world.referencePolicy = 'expandAll';
  const contradicting = { ...given, spec: { ...given.spec, template: { spec: { domain: { cpu: { cores: 1 }, devices: {} } } } } };
  for (const object of [type(2), linux, contradicting]) world.put(object);
  world.settle();
  assert.deepEqual([world.vmi, copies(world), failureOf(world)?.reason], [undefined, [], 'FailedCreate']);
  world.edit('VirtualMachine', { spec: { template: { spec: { domain: { cpu: null } } } } });
  world.settle();
  assert.deepEqual([cpuOf(world)?.cores, world.vm?.spec.instancetype], [2, undefined]);
});

test('a machine that has copies keeps them with expand; with expandAll they are written out, and nothing waits for a restart', () => {
  const world = worldWith(type(2), linux, machine());
  world.boot();
  world.put(type(4));
  world.referencePolicy = 'expand';
  world.settle();
  assert.deepEqual([world.vm?.spec.instancetype?.name, copies(world).length], ['small', 2]);
  world.referencePolicy = 'expandAll';
  world.settle();
  assert.deepEqual([world.vm?.spec.instancetype, world.vm?.spec.template.spec.domain.cpu?.cores], [undefined, 2]);
  assert.equal(conditionOf(world.vm?.status?.conditions, 'RestartRequired'), undefined);
  assert.equal(world.vmi?.metadata.annotations?.['kubevirt.io/vm-generation'], String(world.vm?.metadata.generation));
  restart(world);
  assert.deepEqual([cpuOf(world)?.cores, copies(world), world.vm?.status?.preferenceRef], [2, [], undefined]);
});

/** Performs only so many writes, as one that is killed then. */
class Interrupted extends World {
  left = Number.POSITIVE_INFINITY;
  override apply({ actions }: { readonly actions: readonly Action[] }): void {
    const done = actions.slice(0, this.left);
    this.left -= done.length;
    super.apply({ actions: done });
  }
}

test('a controller that is killed after any write leaves one machine of one size behind', () => {
  for (let writes = 0; writes < 12; writes++) {
    const world = new Interrupted();
    for (const object of [type(2), linux, machine()]) world.put(object);
    world.left = writes;
    for (let pass = 0; pass < 8 && world.left > 0; pass++) for (const decision of world.decide()) world.apply(decision);
    world.put(type(4)); // edited while nobody looks
    world.left = Number.POSITIVE_INFINITY;
    world.settle();
    const told = world.vm?.status?.instancetypeRef?.controllerRevisionRef?.name;
    const size = Number(told?.at(-1));
    assert.equal(cpuOf(world)?.cores, size, `killed after ${writes} writes: the status tells ${told}`);
    assert.equal(world.list('VirtualMachineInstance').length, 1);
  }
});
