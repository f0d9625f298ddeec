import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OfflineVirtualMachine } from '../../api/kubevirt/kinds/offline-virtual-machine.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { controllerOf, controllerReferenceTo, isControlledBy, isDeleting, type ObjectMeta } from '../../api/meta.ts';
import { type Decision, explain, nothingToDo } from '../../reconcile/decision.ts';
import { tinySpec, vm } from '../../testing/builders.ts';
import { World } from '../world.testing.ts';
import { decideOfflineVm } from './decide.ts';
import type { ObservedOfflineVm } from './observed.ts';
import { deriveOfflineVmStatus } from './status.ts';
import { vmFor } from './vm-for.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const deleting = { deletionTimestamp: '2026-01-01T00:00:00Z' };

function ovm(running: boolean, status: OfflineVirtualMachine['status'] = {}, metadata: Partial<ObjectMeta> = {}): OfflineVirtualMachine {
  return {
    apiVersion: 'kubevirt.io/v1alpha1',
    kind: 'OfflineVirtualMachine',
    metadata: { name: 'db', namespace: 'default', uid: 'ovm-1', resourceVersion: '1', ...metadata },
    spec: { running, template: { metadata: { labels: { a: 'b' } }, spec: tinySpec } },
    status,
  };
}

const ours = (status: VirtualMachine['status'] = {}, metadata: Partial<ObjectMeta> = {}) =>
  vm('Always', status, { ownerReferences: [controllerReferenceTo(ovm(true))], ...metadata });
const orphan = vm('Always');
const foreign = vm('Always', {}, { ownerReferences: [{ apiVersion: 'x/v1', kind: 'Other', name: 'o', uid: 'o-1', controller: true }] });
const halted: VirtualMachine = { ...ours(), spec: { running: false, template: { spec: tinySpec } } };
const STATUS = 'patch OfflineVirtualMachine status default/db:';
const CREATE = 'create VirtualMachine default/db: spec.running is true';
const up = { created: true, ready: true };

const cases: [string, Omit<ObservedOfflineVm, 'now'>, string[]][] = [
  ['an OVM that is to run makes a VM', { ovm: ovm(true) }, [CREATE, `${STATUS} created true, ready false`]],
  ['a stopped one has none', { ovm: ovm(false) }, [`${STATUS} created false, ready false`]],
  ['a running VM is left alone', { ovm: ovm(true, up), vm: ours({ ready: true }) }, []],
  [
    'the VM is ready, so the OVM is',
    { ovm: ovm(true, { created: true, ready: false }), vm: ours({ ready: true }) },
    [`${STATUS} created true, ready true`],
  ],
  [
    'a stopped OVM deletes its VM',
    { ovm: ovm(false, up), vm: ours({ ready: true }) },
    ['delete VirtualMachine default/db: spec.running is false'],
  ],
  ['a VM that is already being deleted is not deleted again', { ovm: ovm(false, up), vm: ours({ ready: true }, deleting) }, []],
  [
    'the next VM waits until everybody has seen that the last is gone',
    { ovm: ovm(true, up), goneSince: now - 400 },
    [`${STATUS} created false, ready false`, 'look again in 0.6s'],
  ],
  [
    'the next VM is made when everybody has seen that the last is gone',
    { ovm: ovm(true, { created: false, ready: false }), goneSince: now - 1000 },
    [CREATE, `${STATUS} created true, ready false`],
  ],
  ['a VM that goes blocks the next', { ovm: ovm(true, up), vm: ours({ ready: true }, deleting) }, []],
  [
    'a VM that was halted alone runs again',
    { ovm: ovm(true, { created: true, ready: false }), vm: halted },
    ['patch VirtualMachine default/db: the OfflineVirtualMachine is to run'],
  ],
  [
    'an orphan of its name is adopted',
    { ovm: ovm(true), stranger: orphan, mayAdopt: true },
    ['patch VirtualMachine default/db: OfflineVirtualMachine db adopts it'],
  ],
  ['a stopped OVM takes over nothing', { ovm: ovm(false, { created: false, ready: false }), stranger: orphan, mayAdopt: true }, []],
  ['a VM of somebody else is in the way', { ovm: ovm(true), stranger: foreign }, [`${STATUS} created false, ready false`]],
  [
    'a refusal is told before the next try',
    { ovm: ovm(true), createError: 'quota exceeded' },
    [`${STATUS} created false, ready false`, CREATE],
  ],
  ['an OVM that is deleted leaves its VM to the cascade', { ovm: ovm(true, up, deleting), vm: ours() }, []],
];

describe('decideOfflineVm', () => {
  for (const [name, observed, expected] of cases)
    test(name, () => assert.deepEqual(explain(decideOfflineVm({ ...observed, now })), expected));

  test('what is in the way is said by name, until it is gone', () => {
    const status = deriveOfflineVmStatus({ ovm: ovm(true), stranger: foreign, now });
    assert.equal(status.conditions?.[0]?.message, 'A VirtualMachine named db exists already and belongs to Other o');
    assert.equal(deriveOfflineVmStatus({ ovm: ovm(true, status), vm: ours(), now }).conditions, undefined);
  });

  test('all its machines have one firmware UUID, which is not that of another OVM', () => {
    const uuidOf = (of: OfflineVirtualMachine) => vmFor(of).spec.template.spec.domain.firmware?.uuid;
    assert.match(uuidOf(ovm(true)) ?? '', /^[0-9a-f-]{36}$/);
    assert.equal(uuidOf(ovm(true)), uuidOf(ovm(true, up, { generation: 7 })));
    assert.notEqual(uuidOf(ovm(true)), uuidOf(ovm(true, {}, { uid: 'ovm-2' })));
  });

  test('events are those of the published example', () => {
    const event = decideOfflineVm({ ovm: ovm(true), now }).actions.find((action) => action.event)?.event;
    assert.deepEqual(event, { type: 'Normal', reason: 'SuccessfulCreate', message: 'Created virtual machine: db' });
  });
});

describe('OVM, VM, VMI and Pod, run until nothing changes', () => {
  class OfflineWorld extends World {
    override decide(): Decision[] {
      return [this.#decideOvm(), ...super.decide()];
    }

    get ovm(): OfflineVirtualMachine | undefined {
      return this.find<OfflineVirtualMachine>('OfflineVirtualMachine');
    }

    #decideOvm(): Decision {
      const { ovm: it, vm: machine } = this;
      if (!it) return nothingToDo;
      if (!machine || isControlledBy(machine, it)) return decideOfflineVm({ ovm: it, vm: machine, now });
      return decideOfflineVm({ ovm: it, stranger: machine, mayAdopt: !controllerOf(machine) && !isDeleting(machine), now });
    }

    /** The guest powers off, and its Pod ends. */
    powerOff(): void {
      this.handler('Succeeded');
      this.settle();
      this.kubelet({ terminated: { exitCode: 0, reason: 'Completed', finishedAt: '2026-01-01T00:00:00Z' } });
      this.settle();
    }
  }

  function started(): OfflineWorld {
    const world = new OfflineWorld();
    world.put(ovm(true));
    world.settle();
    world.boot();
    return world;
  }

  test('it runs, with its status and its uuid in the guest', () => {
    const world = started();
    assert.deepEqual(world.ovm?.status, { created: true, ready: true });
    assert.equal(world.vmi?.spec.domain.firmware?.uuid, vmFor(ovm(true)).spec.template.spec.domain.firmware?.uuid);
  });

  test('stopping it leaves no VM', () => {
    const world = started();
    world.edit('OfflineVirtualMachine', { spec: { running: false } });
    world.settle();
    world.powerOff();
    assert.deepEqual([world.vm, world.vmi, world.ovm?.status], [undefined, undefined, { created: false, ready: false }]);
  });

  test('deleting its VM is a restart with the template of today and the identity of yesterday', () => {
    const world = started();
    const before = world.vmi;
    world.edit('OfflineVirtualMachine', { spec: { template: { spec: { terminationGracePeriodSeconds: 9 } } } });
    world.remove(world.vm);
    world.settle();
    world.powerOff();
    world.boot();
    assert.notEqual(world.vmi?.metadata.uid, before?.metadata.uid);
    assert.equal(world.vmi?.spec.terminationGracePeriodSeconds, 9);
    assert.equal(world.vmi?.spec.domain.firmware?.uuid, before?.spec.domain.firmware?.uuid);
  });

  test('a cascade takes everything with it', () => {
    const world = started();
    world.remove(world.ovm);
    world.settle();
    world.powerOff();
    assert.deepEqual([...world.snapshot.keys()], []);
  });

  test('an orphaning delete leaves the machine, which a new OVM takes in', () => {
    const world = started();
    const machine = world.vm?.metadata.uid;
    world.remove(world.ovm, true);
    world.settle();
    assert.deepEqual([world.ovm, world.vm?.metadata.ownerReferences, world.vm?.metadata.uid], [undefined, [], machine]);
    world.put(ovm(true, {}, { uid: 'ovm-2' }));
    world.settle();
    assert.deepEqual([world.vm?.metadata.uid, world.ovm?.status?.created], [machine, true]);
    assert.equal(world.vm && controllerOf(world.vm)?.uid, 'ovm-2');
  });
});
