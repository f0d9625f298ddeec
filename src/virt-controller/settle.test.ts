import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RunStrategy } from '../api/kubevirt/kinds/virtual-machine.ts';
import { vm } from '../testing/builders.ts';
import { World } from './world.testing.ts';

const ended = { terminated: { exitCode: 0, reason: 'Completed', finishedAt: '2026-01-01T00:00:00Z' } };
const crashed = { terminated: { exitCode: 1, reason: 'Error', finishedAt: '2026-01-01T00:00:00Z' } };

function started(strategy: RunStrategy): World {
  const world = new World(vm(strategy, {}, { finalizers: [] }));
  world.settle();
  if (strategy === 'Manual') {
    world.edit('VirtualMachine', { status: { stateChangeRequests: [{ action: 'Start' }] } });
    world.settle();
  }
  world.boot();
  return world;
}

/** The guest ends; virt-handler says how, then the Pod ends. */
function end(world: World, phase: 'Succeeded' | 'Failed'): void {
  world.handler(phase);
  world.settle();
  world.kubelet(ended);
  world.settle();
}

describe('VM, VMI and Pod, run until nothing changes', () => {
  test('a VM comes up in the order that clients wait for', () => {
    assert.deepEqual(started('Always').history, [
      'vmi Pending',
      'SuccessfulCreate',
      'vm Starting',
      'SuccessfulCreate',
      'vmi Scheduling',
      'vmi Scheduled',
      'vmi Running',
      'vm Running',
    ]);
  });

  test('an edit of the template waits for a restart, and taking it back ends the wait', () => {
    const world = started('Always');
    const waiting = () => world.vm?.status?.conditions?.find(({ type }) => type === 'RestartRequired')?.message;
    const memory = (text: string) => ({ spec: { template: { spec: { domain: { resources: { requests: { memory: text } } } } } } });
    world.edit('VirtualMachine', memory('256Mi'));
    world.settle();
    assert.equal(waiting(), 'These fields of the template wait for a restart: domain.resources.requests.memory');
    assert.deepEqual([world.vm?.status?.observedGeneration, world.vm?.status?.desiredGeneration], [1, 2]);
    world.edit('VirtualMachine', memory('128Mi'));
    world.settle();
    assert.equal(waiting(), undefined);
    assert.deepEqual([world.vm?.status?.observedGeneration, world.vm?.status?.desiredGeneration], [3, 3]);
  });

  test('a restart runs the new template and remembers only that start', () => {
    const world = started('Always');
    world.edit('VirtualMachine', { spec: { template: { spec: { terminationGracePeriodSeconds: 7 } } } });
    world.settle();
    end(world, 'Succeeded');
    world.boot();
    const revisions = world.list('ControllerRevision').map(({ metadata }) => metadata.name);
    assert.deepEqual(revisions, ['revision-start-vm-vm-1-2']);
    assert.deepEqual([world.vmi?.status?.virtualMachineRevisionName], revisions);
    assert.ok(!world.vm?.status?.conditions?.some(({ type }) => type === 'RestartRequired'));
  });

  test('how the last instance ended is told once, not again when we remove it', () => {
    const world = started('Always');
    end(world, 'Succeeded');
    world.settle();
    assert.equal(world.vm?.status?.conditions?.find(({ type }) => type === 'LastShutdown')?.reason, 'GuestShutdown');
  });

  test('nothing is left of a deleted VM, its revisions included', () => {
    const world = started('Always');
    world.remove(world.vm);
    world.settle();
    end(world, 'Succeeded');
    assert.deepEqual([...world.snapshot.keys()], []);
  });

  test('a running VM is created, ready and settled', () => {
    const { vm: machine, vmi } = started('Always');
    assert.deepEqual(
      [machine?.status?.created, machine?.status?.ready, vmi?.metadata.labels],
      [true, true, { 'kubevirt.io/nodeName': 'n1' }],
    );
  });

  const outcomes: [RunStrategy, 'Succeeded' | 'Failed', string, string | undefined][] = [
    ['Always', 'Succeeded', 'Starting', 'Scheduling'],
    ['Always', 'Failed', 'Starting', 'Scheduling'],
    ['RerunOnFailure', 'Succeeded', 'Stopped', undefined],
    ['RerunOnFailure', 'Failed', 'Starting', 'Scheduling'],
    ['Manual', 'Succeeded', 'Stopped', 'Succeeded'],
    ['Once', 'Failed', 'Stopped', 'Failed'],
  ];
  for (const [strategy, phase, printable, vmiPhase] of outcomes) {
    test(`${strategy} after a guest that ${phase}`, () => {
      const world = started(strategy);
      const before = world.vmi?.metadata.uid;
      end(world, phase);
      assert.deepEqual([world.vm?.status?.printableStatus, world.vmi?.status?.phase], [printable, vmiPhase]);
      assert.equal(world.vmi?.metadata.uid === before, vmiPhase === phase);
    });
  }

  test('a restart is never shown as Stopped', () => {
    const world = started('Always');
    world.history.length = 0;
    end(world, 'Succeeded');
    world.boot();
    assert.deepEqual(
      world.history.filter((entry) => entry.startsWith('vm ')),
      ['vm Starting', 'vm Running'],
    );
  });

  test('no second VMI is made while a Pod of the first is left', () => {
    const world = started('Always');
    const first = world.vmi?.metadata.uid;
    world.handler('Failed');
    world.settle();
    assert.equal(world.vmi?.metadata.uid, first);
    world.kubelet(ended);
    world.settle();
    assert.notEqual(world.vmi?.metadata.uid, first);
  });

  test('a restart request replaces the VMI of a Manual VM once', () => {
    const world = started('Manual');
    const first = world.vmi?.metadata.uid;
    world.edit('VirtualMachine', { status: { stateChangeRequests: [{ action: 'Stop', uid: first }, { action: 'Start' }] } });
    world.settle();
    end(world, 'Succeeded');
    world.boot();
    assert.notEqual(world.vmi?.metadata.uid, first);
    assert.deepEqual([world.vm?.status?.printableStatus, world.vm?.status?.stateChangeRequests], ['Running', undefined]);
  });

  test('halting stops the guest and ends Stopped', () => {
    const world = started('Always');
    world.edit('VirtualMachine', { spec: { runStrategy: 'Halted' } });
    world.settle();
    assert.equal(world.vm?.status?.printableStatus, 'Stopping');
    end(world, 'Succeeded');
    assert.deepEqual([world.vm?.status?.printableStatus, world.vmi, world.pod], ['Stopped', undefined, undefined]);
  });

  test('a launcher that keeps failing is retried, each time later', () => {
    const world = new World(vm('Always'));
    const waits: number[] = [];
    for (let failure = 0; failure < 4; failure++) {
      world.settle();
      world.kubelet(crashed);
      world.settle();
      world.kubelet(crashed);
      waits.push(world.settle() ?? 0);
      assert.equal(world.vm?.status?.printableStatus, 'CrashLoopBackOff');
      world.now += waits.at(-1) ?? 0;
    }
    assert.deepEqual(
      waits,
      waits.toSorted((a, b) => a - b),
    );
    world.settle();
    world.boot();
    assert.deepEqual([world.vm?.status?.printableStatus, world.vm?.status?.startFailure], ['Running', undefined]);
  });

  test('a deleted VM goes last', () => {
    const world = started('Always');
    world.remove(world.vm);
    world.settle();
    assert.ok(world.vm && world.vmi && world.pod);
    end(world, 'Succeeded');
    assert.deepEqual([world.vm, world.vmi, world.pod], [undefined, undefined, undefined]);
  });

  test('a VM deleted before its guest ran leaves nothing', () => {
    const world = new World(vm('Always'));
    world.settle();
    world.remove(world.vm);
    world.settle();
    assert.deepEqual([world.vm, world.vmi, world.pod], [undefined, undefined, undefined]);
  });
});
