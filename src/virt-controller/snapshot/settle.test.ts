/** Snapshots and restores together, on a toy cluster, with virt-controller killed after each of its steps. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerRevision } from '../../api/core/controller-revision.ts';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import { BEING_WRITTEN, type VolumeSnapshot } from '../../api/core/volume-snapshot.ts';
import { vmiIs } from '../../api/kubevirt/condition-reasons.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { VirtualMachineRestore } from '../../api/kubevirt/kinds/vm-restore.ts';
import type { VirtualMachineSnapshot } from '../../api/kubevirt/kinds/vm-snapshot.ts';
import type { VirtualMachineSnapshotContent } from '../../api/kubevirt/kinds/vm-snapshot-content.ts';
import { FINALIZER_SNAPSHOT_SOURCE, FINALIZER_VM_SNAPSHOT } from '../../api/kubevirt/names.ts';
import { type Decision, nothingToDo, type OtherAction } from '../../reconcile/decision.ts';
import { vm, vmi } from '../../testing/builders.ts';
import { Cluster } from '../cluster.testing.ts';
import { decideVmRestore } from '../restore/decide.ts';
import { isReplacing } from '../restore/in-place.ts';
import { claimNamesOf } from '../restore/restored.ts';
import { isKeptInstance, recordOf, suspensionAfter } from '../vm/suspension.ts';
import { specToKeep, volumesOf } from './content-for.ts';
import { decideVmSnapshot } from './decide.ts';
import { backupsOf } from './memory.ts';
import type { Quiesce } from './observed.ts';

const AGENT = { conditions: [{ type: 'AgentConnected', status: 'True' }] } as const;
const DISKS = ['root', 'data'];

class World extends Cluster {
  /** What the controller remembers, and what is so in the guest. */
  quiesce: Quiesce = 'untouched';
  isFrozen = false;
  hasPaused = false;
  /** The guest writes to its disks all the time, and the storage copies them. */
  isWriting = false;
  wasFrozenWhenTaken: boolean[] = [];
  wasRunningWhenTaken: boolean[] = [];
  wasPausedWhenTaken: boolean[] = [];
  hasVolumeSnapshots = true;
  unfilled: string[] = [];
  migration: string | undefined;

  constructor(isRunning: boolean) {
    super();
    const volumes = DISKS.map((name) => ({ name, persistentVolumeClaim: { claimName: `db-${name}` } }));
    const machine = vm(isRunning ? 'Always' : 'Halted');
    this.put({ ...machine, spec: { ...machine.spec, template: { spec: { ...machine.spec.template.spec, volumes } } } } as VirtualMachine);
    if (isRunning) this.put(instanceWith(volumes));
    for (const name of DISKS) this.put(claim(`db-${name}`));
  }

  ask(kind: 'VirtualMachineSnapshot' | 'VirtualMachineRestore', spec: object): void {
    this.put({ apiVersion: 'snapshot.kubevirt.io/v1beta1', kind, metadata: { namespace: 'default', name: 'x' }, spec } as never);
  }

  get machine(): VirtualMachine {
    return this.find<VirtualMachine>('VirtualMachine') as VirtualMachine;
  }

  /** The storage does what it is asked for, slowly: one thing at a time. */
  store(): void {
    const pending = this.list<VolumeSnapshot>('VolumeSnapshot').find(({ status }) => !status?.readyToUse);
    if (pending?.metadata.deletionTimestamp) {
      this.drop(pending);
      return;
    }
    if (pending && this.isWriting && !this.isPaused && this.find('VirtualMachineInstance')) {
      const error = { message: `cannot copy the data of its PVC: ${BEING_WRITTEN} while it is copied` };
      if (!pending.status?.error) this.put({ ...pending, status: { readyToUse: false, error } } as VolumeSnapshot);
      return;
    }
    if (pending) {
      this.wasPausedWhenTaken.push(this.isPaused);
      this.wasFrozenWhenTaken.push(this.isFrozen);
      this.wasRunningWhenTaken.push(this.find('VirtualMachineInstance') !== undefined);
      this.put({ ...pending, status: { readyToUse: true, creationTime: '2026-01-01T00:00:01Z' } } as VolumeSnapshot);
      return;
    }
    const unbound = this.list<PersistentVolumeClaim>('PersistentVolumeClaim').find(({ status }) => status?.phase !== 'Bound');
    if (unbound) this.put({ ...unbound, status: { phase: 'Bound' } } as PersistentVolumeClaim);
  }

  get isPaused(): boolean {
    const instance = this.find<VirtualMachineInstance>('VirtualMachineInstance');
    return instance !== undefined && vmiIs(instance, 'Paused');
  }

  /** virt-handler does it and shows it; so does whoever sits at the console. */
  pause(isPaused: boolean): void {
    const found = this.find<VirtualMachineInstance>('VirtualMachineInstance');
    const paused = isPaused ? [{ type: 'Paused', status: 'True' }] : [];
    const others = found?.status?.conditions?.filter(({ type }) => type !== 'Paused') ?? [];
    if (found) this.put({ ...found, status: { ...found.status, conditions: [...others, ...paused] } } as VirtualMachineInstance);
  }

  #records(): ControllerRevision[] {
    return this.list<ControllerRevision>('ControllerRevision').filter(isKeptInstance);
  }

  /** The controller of machines and virt-handler do what they are asked for; true when that was something. */
  suspendOrResume(): boolean {
    const { machine } = this;
    const instance = this.find<VirtualMachineInstance>('VirtualMachineInstance');
    const suspension = machine.status?.suspension;
    if (suspension?.phase === 'Suspending' && instance) {
      this.put(claim('memory'));
      this.put(recordOf(machine, 'vmi-1', { apiVersion: instance.apiVersion, kind: instance.kind, metadata: {}, spec: instance.spec }));
      const ended = vmi('Succeeded', { suspension: { phase: 'Saved', claimName: 'memory', digest: 'd', bytes: 5, guestAgent: true } });
      this.#say(suspensionAfter({ vm: machine, vmi: ended, now: this.now }));
      this.drop(instance);
      return true;
    }
    const after = suspensionAfter({ vm: machine, vmi: instance, now: this.now });
    if (suspension?.phase !== 'Suspended' || after?.phase !== 'Resuming') return false;
    this.#say(undefined);
    for (const record of this.#records()) this.drop(record);
    this.put(instanceWith(machine.spec.template.spec.volumes ?? []));
    return true;
  }

  #say(suspension: NonNullable<VirtualMachine['status']>['suspension']): void {
    const { suspension: _, ...status } = this.machine.status ?? {};
    this.put({ ...this.machine, status: { ...status, ...(suspension && { suspension }) } } as VirtualMachine);
  }

  decide(): Decision<OtherAction> {
    const snapshot = this.find<VirtualMachineSnapshot>('VirtualMachineSnapshot');
    const restore = this.find<VirtualMachineRestore>('VirtualMachineRestore');
    const found = this.find<VirtualMachine>('VirtualMachine');
    const instance = this.find<VirtualMachineInstance>('VirtualMachineInstance');
    const content = this.find<VirtualMachineSnapshotContent>('VirtualMachineSnapshotContent');
    const claimsBy = (names: readonly string[]) =>
      new Map(names.map((name) => [name, this.find<PersistentVolumeClaim>('PersistentVolumeClaim', name)] as const));
    const { now } = this;
    if (restore) {
      const names = claimNamesOf(restore, content);
      const decided = decideVmRestore({
        restore,
        snapshot,
        content,
        vm: found,
        vmi: instance,
        claims: claimsBy(names),
        records: this.#records(),
        lateClasses: new Set(),
        now,
      });
      if (decided.actions.length > 0 || restore.status?.complete) return decided;
    }
    if (!snapshot) return nothingToDo;
    const spec = specToKeep({ vm: found, vmi: instance });
    const { claimName: memory } = found?.status?.suspension ?? {};
    const wanted = backupsOf(content).map(({ volumeSnapshotName = '' }) => volumeSnapshotName);
    return decideVmSnapshot({
      ...{
        snapshot,
        vm: found,
        vmi: instance,
        content,
        now,
        quiesce: this.quiesce,
        hasPaused: this.hasPaused,
        hasVolumeSnapshots: this.hasVolumeSnapshots,
      },
      isReplacingDisks: restore !== undefined && isReplacing(restore),
      ...(snapshot.spec.memory && { kept: this.#records()[0], migration: this.migration }),
      claims: claimsBy([
        ...(spec ? volumesOf(spec.template.spec).included.map(({ claimName }) => claimName) : []),
        ...(snapshot.spec.memory && memory !== undefined ? [memory] : []),
      ]),
      unfilledClaims: new Set(this.unfilled),
      claimsInUse: new Set(),
      volumeSnapshots: new Map(wanted.map((name) => [name, this.find<VolumeSnapshot>('VolumeSnapshot', name)])),
    });
  }

  /** One action, or one step of the storage when there is none; false when nothing is left. */
  step(): boolean {
    const [action] = this.decide().actions;
    const before = this.snapshot;
    if (!action && !this.suspendOrResume()) this.store();
    else if (!action) return true;
    else if (action.do === 'freeze') [this.isFrozen, this.quiesce] = [true, 'frozen'];
    else if (action.do === 'pause' || action.do === 'unpause') {
      this.hasPaused = action.do === 'pause';
      this.pause(this.hasPaused);
    } else if (action.do === 'thaw') [this.isFrozen, this.quiesce] = [false, 'thawed'];
    else this.apply({ actions: [action as never] });
    this.#check();
    return action !== undefined || this.snapshot !== before;
  }

  /** virt-controller starts anew: it has forgotten what it did to the guest, which is told by the status of that. */
  kill(): void {
    this.quiesce = 'untouched';
    this.hasPaused = false;
    const found = this.find<VirtualMachineInstance>('VirtualMachineInstance');
    if (found) this.put({ ...found, status: { ...found.status, fsFreezeStatus: this.isFrozen ? 'frozen' : '' } } as VirtualMachineInstance);
  }

  /** What has to be true at every moment: a machine has whole disks. */
  #check(): void {
    if (this.find<VirtualMachineRestore>('VirtualMachineRestore')?.spec.volumeRestorePolicy === 'InPlace') return;
    for (const { claimName } of volumesOf(this.machine.spec.template.spec).included)
      assert.equal(this.find<PersistentVolumeClaim>('PersistentVolumeClaim', claimName)?.status?.phase, 'Bound', claimName);
  }

  settle(killAfter = Number.POSITIVE_INFINITY): number {
    for (let steps = 0; steps < 100; steps++) {
      if (steps === killAfter) this.kill();
      if (!this.step()) return steps;
    }
    throw new Error(`still changing: ${JSON.stringify(this.decide())}`);
  }
}

function instanceWith(volumes: readonly object[]): VirtualMachineInstance {
  const instance = vmi('Running', AGENT as never);
  return { ...instance, spec: { ...instance.spec, volumes } } as VirtualMachineInstance;
}

function claim(name: string): PersistentVolumeClaim {
  const spec = { resources: { requests: { storage: '1Gi' } }, volumeName: `pv-${name}` };
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { namespace: 'default', name }, spec, status: { phase: 'Bound' } };
}

const SOURCE = { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'db' };
const statusOf = (world: World) => world.find<VirtualMachineSnapshot>('VirtualMachineSnapshot')?.status;

function afterSnapshot(isRunning: boolean, killAfter?: number, more: object = {}): World {
  const world = new World(isRunning);
  world.ask('VirtualMachineSnapshot', { source: SOURCE, ...more });
  world.settle(killAfter);
  return world;
}

test('a snapshot of a machine at rest becomes whole, wherever virt-controller is killed', () => {
  for (let killAfter = 0; killAfter < 20; killAfter++) {
    const world = afterSnapshot(false, killAfter);
    const { phase, readyToUse, indications, snapshotVolumes } = statusOf(world) ?? {};
    assert.deepEqual([phase, readyToUse, indications, snapshotVolumes?.includedVolumes], ['Succeeded', true, [], DISKS], `${killAfter}`);
    assert.deepEqual([world.machine.status?.snapshotInProgress, world.machine.metadata.finalizers?.length], [undefined, 1], `${killAfter}`);
  }
});

test('a machine whose disk is still being filled is waited for: what was kept would be nothing, or a half', () => {
  const world = new World(false);
  world.ask('VirtualMachineSnapshot', { source: SOURCE });
  world.unfilled = ['db-data'];
  for (let step = 0; step < 20; step++) world.step();
  assert.deepEqual([statusOf(world)?.error?.message, world.find('VolumeSnapshot')], ['PVC db-data is not filled yet', undefined]);
  world.unfilled = [];
  world.settle();
  assert.equal(statusOf(world)?.phase, 'Succeeded');
});

test('a snapshot that is over does not take away the mark of the next one, whichever of both looks first', () => {
  for (const isOldFirst of [true, false]) {
    const world = afterSnapshot(false);
    const taken = world.find<VirtualMachineSnapshot>('VirtualMachineSnapshot') as VirtualMachineSnapshot;
    const named = (name: string, status: VirtualMachineSnapshot['status']): VirtualMachineSnapshot => {
      const { status: _, ...rest } = taken;
      return { ...rest, metadata: { namespace: 'default', name, finalizers: [FINALIZER_VM_SNAPSHOT] }, ...(status && { status }) };
    };
    const both = [named('old', taken.status), named('new', undefined)];
    const done: string[] = [];
    for (let round = 0; round < 6; round++)
      for (const snapshot of isOldFirst ? both : both.toReversed()) {
        const of = { snapshot, vm: world.machine, claims: new Map(), claimsInUse: new Set<string>(), volumeSnapshots: new Map() };
        const { actions } = decideVmSnapshot({
          ...of,
          ...{ hasVolumeSnapshots: true, quiesce: 'untouched', hasPaused: false, now: world.now },
        });
        done.push(...actions.flatMap((action) => (action.do === 'create' ? [action.object.kind] : [])));
        world.apply({ actions: actions.filter((action) => action.do === 'patch' && action.target.kind === 'VirtualMachine') as never });
      }
    const { finalizers = [] } = world.machine.metadata;
    assert.deepEqual([done[0], finalizers.includes(FINALIZER_SNAPSHOT_SOURCE)], ['VirtualMachineSnapshotContent', true], `${isOldFirst}`);
  }
});

test('a guest with an agent is frozen while all its disks are taken and goes on afterwards, wherever virt-controller is killed', () => {
  for (let killAfter = 0; killAfter < 24; killAfter++) {
    const world = afterSnapshot(true, killAfter);
    const { phase, indications } = statusOf(world) ?? {};
    assert.deepEqual([phase, indications, world.isFrozen], ['Succeeded', ['Online', 'GuestAgent'], false], `${killAfter}`);
    assert.deepEqual(world.wasFrozenWhenTaken.slice(-2), [true, true], `${killAfter}`);
    assert.equal(world.list('VolumeSnapshot').length, 2);
  }
});

for (const hasAgent of [true, false])
  test(`a guest ${hasAgent ? 'with' : 'without'} an agent that writes while its disks are copied is paused for that alone, wherever virt-controller is killed`, () => {
    for (let killAfter = 0; killAfter < 40; killAfter++) {
      const world = new World(true);
      const instance = world.find<VirtualMachineInstance>('VirtualMachineInstance') as VirtualMachineInstance;
      if (!hasAgent) world.put({ ...instance, status: { ...instance.status, conditions: [] } } as VirtualMachineInstance);
      world.isWriting = true;
      world.ask('VirtualMachineSnapshot', { source: SOURCE });
      world.settle(killAfter);
      const { phase, indications, pausedInstanceUID } = statusOf(world) ?? {};
      assert.deepEqual([phase, pausedInstanceUID, world.isPaused, world.isFrozen], ['Succeeded', undefined, false, false], `${killAfter}`);
      assert.match(`${indications}`, hasAgent ? /^Online,(GuestAgent,)?Paused$/ : /^Online,Paused$/, `${killAfter}`);
      assert.deepEqual(world.wasPausedWhenTaken, [true, true], `${killAfter}`);
    }
  });

test('a disk that was taken before the guest is paused is taken again, so that all are of one moment', () => {
  const world = new World(true);
  world.ask('VirtualMachineSnapshot', { source: SOURCE });
  while (!world.list<VolumeSnapshot>('VolumeSnapshot').some(({ status }) => status?.readyToUse)) world.step();
  world.isWriting = true;
  world.settle();
  assert.deepEqual([statusOf(world)?.phase, world.wasPausedWhenTaken], ['Succeeded', [false, true, true]]);
});

test('a guest that was paused for its snapshot goes on when that is deleted, is late, or cannot be taken for another reason', () => {
  const ends: readonly [string, (world: World) => void][] = [
    ['deleted', (world) => world.remove(world.find('VirtualMachineSnapshot'))],
    [
      'late',
      (world) => {
        world.now += 6 * 60_000;
      },
    ],
    [
      'no space',
      (world) => world.put({ ...world.list('VolumeSnapshot')[0], status: { error: { message: 'no space left on device' } } } as never),
    ],
    ['stopped', (world) => world.drop(world.find('VirtualMachineInstance') as VirtualMachineInstance)],
  ];
  for (const [what, end] of ends) {
    const world = new World(true);
    world.isWriting = true;
    world.ask('VirtualMachineSnapshot', { source: SOURCE });
    while (!(world.isPaused && world.list('VolumeSnapshot').length === 2)) world.step();
    end(world);
    world.settle();
    assert.deepEqual([world.isPaused, world.isFrozen, world.machine.status?.snapshotInProgress], [false, false, undefined], what);
  }
});

test('a guest that may not be paused is left alone, and the snapshot says why it waits', () => {
  const world = new World(true);
  world.isWriting = true;
  const instance = world.find<VirtualMachineInstance>('VirtualMachineInstance') as VirtualMachineInstance;
  world.put({ ...instance, spec: { ...instance.spec, livenessProbe: { tcpSocket: { port: 80 } } } } as VirtualMachineInstance);
  world.ask('VirtualMachineSnapshot', { source: SOURCE });
  world.settle();
  assert.match(
    statusOf(world)?.error?.message ?? '',
    /it is being written while it is copied, and its guest cannot be paused for that: VMI has a liveness probe/,
  );
});

test('a restore gives the machine new whole disks and keeps the old ones, wherever virt-controller is killed', () => {
  for (let killAfter = 0; killAfter < 24; killAfter++) {
    const world = afterSnapshot(false);
    world.edit('VirtualMachine', {
      metadata: { labels: { edited: 'yes' } },
      spec: { template: { spec: { terminationGracePeriodSeconds: 99 } } },
    });
    world.ask('VirtualMachineRestore', { target: SOURCE, virtualMachineSnapshotName: 'x' });
    world.settle(killAfter);
    const restore = world.find<VirtualMachineRestore>('VirtualMachineRestore');
    const { spec, status } = world.machine;
    assert.deepEqual([restore?.status?.complete, status?.restoreInProgress, restore?.metadata.finalizers], [true, undefined, []]);
    assert.equal(spec.template.spec.terminationGracePeriodSeconds, 5);
    assert.deepEqual(
      volumesOf(spec.template.spec).included.map(({ claimName }) => claimName),
      DISKS.map((name) => `restore-${restore?.metadata.uid}-${name}`),
    );
    assert.equal(world.list('PersistentVolumeClaim').length, 4);
  }
});

test('a restore whose snapshot is deleted meanwhile fails and leaves nothing, or a machine that has all of its disks', () => {
  for (const memory of [false, true])
    for (let deleteAfter = 4; deleteAfter < 20; deleteAfter++) {
      const world = afterSnapshot(memory, undefined, { memory });
      const instance = world.find('VirtualMachineInstance');
      if (instance) world.drop(instance);
      const before = new Set(world.list('PersistentVolumeClaim').map(({ metadata }) => metadata.name));
      world.edit('VirtualMachine', { spec: { runStrategy: 'Halted' } });
      world.ask('VirtualMachineRestore', { target: SOURCE, virtualMachineSnapshotName: 'x' });
      for (let steps = 0; steps < deleteAfter; steps++) world.step();
      for (const kind of ['VirtualMachineSnapshotContent', 'VirtualMachineSnapshot'])
        world.drop(world.list(kind as 'VirtualMachineSnapshot')[0] as VirtualMachineSnapshot);
      world.settle();
      const { status, metadata } = world.find<VirtualMachineRestore>('VirtualMachineRestore') as VirtualMachineRestore;
      const said = status?.conditions?.find(({ type }) => type === 'Failure')?.message ?? 'complete';
      assert.match(said, /^complete$|^VirtualMachineSnapshot x was deleted while it was restored/, `${deleteAfter}`);
      assert.deepEqual([metadata.finalizers, world.machine.status?.restoreInProgress], [[], undefined], `${deleteAfter}`);
      const [claimName = ''] = volumesOf(world.machine.spec.template.spec).included.map((each) => each.claimName);
      const left = world.list('PersistentVolumeClaim').filter((each) => !before.has(each.metadata.name));
      assert.deepEqual(left.length > 0, !before.has(claimName), `${deleteAfter}: ${said}`);
    }
});

/** A machine whose first disk a DataVolume has filled, and a restore that puts its disks back in place. */
function inPlace(target: object = SOURCE): World {
  const world = new World(false);
  world.put({ apiVersion: 'cdi.kubevirt.io/v1beta1', kind: 'DataVolume', metadata: { namespace: 'default', name: 'db-root' } } as never);
  const { metadata } = world.find('DataVolume') as { metadata: { uid?: string } };
  const owner = { apiVersion: 'cdi.kubevirt.io/v1beta1', kind: 'DataVolume', name: 'db-root', uid: metadata.uid, controller: true };
  const root = world.find<PersistentVolumeClaim>('PersistentVolumeClaim', 'db-root') as PersistentVolumeClaim;
  world.put({ ...root, metadata: { ...root.metadata, ownerReferences: [owner] } } as PersistentVolumeClaim);
  const volumes = [
    { name: 'root', dataVolume: { name: 'db-root' } },
    { name: 'data', persistentVolumeClaim: { claimName: 'db-data' } },
  ];
  const dataVolumeTemplates = [{ metadata: { name: 'db-root' }, spec: {} }];
  world.edit('VirtualMachine', { spec: { dataVolumeTemplates, template: { spec: { volumes } } } });
  world.ask('VirtualMachineSnapshot', { source: SOURCE });
  world.settle();
  world.ask('VirtualMachineRestore', { target, virtualMachineSnapshotName: 'x', volumeRestorePolicy: 'InPlace' });
  return world;
}

/** With the garbage collector, which takes the claim of a DataVolume that is gone. */
function steps(world: World, most: number, check: (step: number) => void = () => {}): void {
  for (let step = 0; step < most; step++) {
    world.collect();
    world.step();
    check(step);
  }
}

const ENOUGH = 60;
const restoreIn = (world: World) => world.find<VirtualMachineRestore>('VirtualMachineRestore');
const disksOf = (world: World) => DISKS.flatMap((name) => world.find<PersistentVolumeClaim>('PersistentVolumeClaim', `db-${name}`) ?? []);
const isNew = ({ spec }: PersistentVolumeClaim) => spec.dataSource !== undefined;

test('a restore in place replaces the disks under their names: never is there a half of old and new, and the machine is marked meanwhile', () => {
  const world = inPlace();
  steps(world, ENOUGH, (step) => {
    const disks = disksOf(world);
    assert.ok(disks.every(isNew) || !disks.some(isNew), `${step}: ${disks.map(isNew)}`);
    const isWhole = disks.length === DISKS.length && disks.every(({ status }) => status?.phase === 'Bound');
    assert.ok(isWhole || world.machine.status?.restoreInProgress === 'x', `${step}: it may start`);
  });
  const { spec, status } = world.machine;
  assert.deepEqual(
    [restoreIn(world)?.status?.complete, status?.restoreInProgress, disksOf(world).map(isNew)],
    [true, undefined, [true, true]],
  );
  assert.deepEqual(restoreIn(world)?.status?.deletedDataVolumes, ['db-root']);
  assert.deepEqual([world.find('DataVolume'), spec.dataVolumeTemplates], [undefined, undefined]);
  assert.deepEqual(
    spec.template.spec.volumes?.map(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName),
    ['db-root', 'db-data'],
  );
});

test('from the first disk that goes, a restore in place comes to its end, whoever deletes it or its snapshot', () => {
  for (const kind of ['VirtualMachineRestore', 'VirtualMachineSnapshot'])
    for (let deleteAfter = 0; deleteAfter < 20; deleteAfter++) {
      const world = inPlace();
      steps(world, deleteAfter);
      world.remove(world.find(kind));
      steps(world, ENOUGH);
      const disks = disksOf(world);
      assert.deepEqual([disks.length, new Set(disks.map(isNew)).size], [2, 1], `${kind} after ${deleteAfter}: ${disks.map(isNew)}`);
      assert.equal(world.machine.status?.restoreInProgress, undefined, `${kind} after ${deleteAfter}`);
    }
});

test('a restore in place is of the machine that was kept, and touches no disk of another one', () => {
  const failureOf = (world: World) => restoreIn(world)?.status?.conditions?.find(({ type }) => type === 'Failure')?.message;
  const other = inPlace({ ...SOURCE, name: 'other' });
  steps(other, ENOUGH);
  const foreign = inPlace();
  foreign.edit('VirtualMachine', { spec: { dataVolumeTemplates: null, template: { spec: { volumes: [] } } } });
  steps(foreign, ENOUGH);
  assert.match(failureOf(other) ?? '', /^volumeRestorePolicy InPlace is for the machine that the snapshot is of, db$/);
  assert.match(failureOf(foreign) ?? '', /^PVC db-root is there already, and is not of this machine$/);
  assert.deepEqual(
    [disksOf(other).map(isNew), disksOf(foreign).map(isNew)],
    [
      [false, false],
      [false, false],
    ],
  );
});

test('a line of its own gives the claim of a volume another name, labels and annotations', () => {
  const world = afterSnapshot(false);
  const volumeRestoreOverrides = [{ volumeName: 'data', restoreName: 'mine', labels: { a: 'b' }, annotations: { c: 'd' } }];
  world.ask('VirtualMachineRestore', { target: SOURCE, virtualMachineSnapshotName: 'x', volumeRestoreOverrides });
  world.settle();
  const { metadata } = world.find('PersistentVolumeClaim', 'mine') as PersistentVolumeClaim;
  assert.deepEqual([metadata.labels, metadata.annotations?.['c']], [{ a: 'b' }, 'd']);
  const [, data] = volumesOf(world.machine.spec.template.spec).included;
  assert.equal(data?.claimName, 'mine');
});

test('with memory all is taken while nothing runs, and the guest goes on afterwards, wherever virt-controller is killed', () => {
  for (let killAfter = 0; killAfter < 30; killAfter++) {
    const world = afterSnapshot(true, killAfter, { memory: true });
    const { phase, indications } = statusOf(world) ?? {};
    assert.deepEqual([phase, indications], ['Succeeded', ['Online', 'Memory']], `${killAfter}`);
    assert.deepEqual(world.wasRunningWhenTaken, [false, false, false], `${killAfter}`);
    assert.deepEqual([world.machine.status?.suspension, world.list('VirtualMachineInstance').length], [undefined, 1], `${killAfter}`);
    const content = world.find<VirtualMachineSnapshotContent>('VirtualMachineSnapshotContent');
    assert.deepEqual([content?.spec.memory?.digest, content?.spec.memory?.guestAgent], ['d', true]);
  }
});

test('memory comes back as that of a suspended machine, whole, wherever virt-controller is killed', () => {
  for (let killAfter = 0; killAfter < 30; killAfter++) {
    const world = afterSnapshot(true, undefined, { memory: true });
    const instance = world.find('VirtualMachineInstance');
    if (instance) world.drop(instance);
    world.edit('VirtualMachine', { spec: { runStrategy: 'Halted' } });
    world.ask('VirtualMachineRestore', { target: SOURCE, virtualMachineSnapshotName: 'x' });
    world.settle(killAfter);
    const restore = world.find<VirtualMachineRestore>('VirtualMachineRestore');
    const { suspension, restoreInProgress } = world.machine.status ?? {};
    const claimName = `restore-${restore?.metadata.uid}--memory`;
    assert.deepEqual([restore?.status?.complete, restoreInProgress], [true, undefined], `${killAfter}`);
    assert.deepEqual([suspension?.phase, suspension?.claimName, suspension?.digest], ['Suspended', claimName, 'd'], `${killAfter}`);
    assert.equal(suspension?.origin, undefined);
    assert.equal(world.find('PersistentVolumeClaim', claimName)?.metadata.ownerReferences?.[0]?.controller, true);
    const records = world.list<ControllerRevision>('ControllerRevision').filter(isKeptInstance);
    assert.equal(records.length, 1, `${killAfter}`);
  }
});

test('a machine that is to be moved is suspended for its snapshot when that is over, and not before', () => {
  const world = new World(true);
  world.migration = 'm';
  world.ask('VirtualMachineSnapshot', { source: SOURCE, memory: true });
  world.settle();
  assert.deepEqual([statusOf(world)?.phase, world.machine.status?.suspension], ['InProgress', undefined]);
  assert.match(statusOf(world)?.conditions?.find(({ type }) => type === 'Progressing')?.message ?? '', /^db is being moved, by m$/);
  world.migration = undefined;
  world.settle();
  assert.deepEqual([statusOf(world)?.phase, world.list('VirtualMachineInstance').length], ['Succeeded', 1]);
});

test('a machine that is being suspended is waited for, and its guest is not frozen; its disks are kept when it is', () => {
  const world = new World(true);
  world.edit('VirtualMachine', { status: { suspension: { phase: 'Suspending', instanceUID: 'vmi-1' } } });
  world.ask('VirtualMachineSnapshot', { source: SOURCE });
  for (let steps = 0; statusOf(world) === undefined && steps < 5; steps++) world.step();
  assert.match(statusOf(world)?.conditions?.find(({ type }) => type === 'Progressing')?.message ?? '', /^db is Suspending$/);
  assert.deepEqual([world.isFrozen, world.machine.status?.snapshotInProgress], [false, undefined]);
  world.settle();
  assert.deepEqual(
    [statusOf(world)?.phase, world.wasFrozenWhenTaken, world.wasRunningWhenTaken],
    ['Succeeded', [false, false], [false, false]],
  );
});

test('a disk that is full ends a snapshot with memory at once: the guest goes on, and nothing is left', () => {
  const world = new World(true);
  world.ask('VirtualMachineSnapshot', { source: SOURCE, memory: true });
  while (world.list('VolumeSnapshot').length < 3) world.step();
  const [first] = world.list<VolumeSnapshot>('VolumeSnapshot');
  world.put({ ...first, status: { error: { message: 'no space left on device' } } } as VolumeSnapshot);
  world.settle();
  const { phase, error } = statusOf(world) ?? {};
  assert.deepEqual([phase, error?.message], ['Failed', 'no space left on device']);
  assert.deepEqual([world.machine.status?.suspension, world.machine.status?.snapshotInProgress], [undefined, undefined]);
  assert.deepEqual([world.list('VirtualMachineInstance').length, world.list('VirtualMachineSnapshotContent').length], [1, 0]);
});

test('a machine that does not run, or whose disks end with it, has no memory to keep: the snapshot fails at once', () => {
  assert.match(statusOf(afterSnapshot(false, undefined, { memory: true }))?.error?.message ?? '', /VM is not running/);
});

test('a machine that runs is waited for, and is not touched', () => {
  const world = afterSnapshot(true);
  world.ask('VirtualMachineRestore', { target: SOURCE, virtualMachineSnapshotName: 'x' });
  world.settle();
  assert.match(JSON.stringify(world.find<VirtualMachineRestore>('VirtualMachineRestore')?.status), /db is running: stop it/);
  assert.equal(world.list('PersistentVolumeClaim').length, 2);
  world.now += 6 * 60_000;
  world.settle();
  assert.match(JSON.stringify(world.find<VirtualMachineRestore>('VirtualMachineRestore')?.status), /TargetNotReady/);
});

test('a restore to a name that is not there makes a machine that does not run', () => {
  const world = afterSnapshot(false);
  const before = world.machine;
  world.drop(before);
  world.ask('VirtualMachineRestore', {
    target: { ...SOURCE, name: 'db' },
    virtualMachineSnapshotName: 'x',
    volumeRestorePolicy: 'PrefixTargetName',
  });
  for (const each of world.list('PersistentVolumeClaim')) world.drop(each);
  world.put(vm('Halted', {}, { name: 'other', uid: 'other' }));
  world.drop(world.find('VirtualMachine', 'other') as VirtualMachine);
  for (let pass = 0; pass < 40; pass++) {
    const [action] = world.decide().actions;
    if (action) world.apply({ actions: [action as never] });
    else world.store();
  }
  const made = world.machine;
  assert.deepEqual([made.spec.runStrategy, volumesOf(made.spec.template.spec).included[0]?.claimName], ['Halted', 'db-root']);
  assert.equal(
    world.find<PersistentVolumeClaim>('PersistentVolumeClaim', 'db-data')?.metadata.ownerReferences?.[0]?.uid,
    made.metadata.uid,
  );
});

test('without VolumeSnapshots it fails at once and says so; late, it fails with what was in the way and leaves nothing', () => {
  const without = new World(false);
  without.hasVolumeSnapshots = false;
  without.ask('VirtualMachineSnapshot', { source: SOURCE });
  without.settle();
  assert.match(statusOf(without)?.error?.message ?? '', /has no VolumeSnapshots/);
  const late = new World(false);
  late.ask('VirtualMachineSnapshot', { source: SOURCE });
  for (let steps = 0; steps < 6; steps++) late.step();
  assert.equal(late.list('VirtualMachineSnapshotContent').length, 1);
  late.now += 6 * 60_000;
  late.settle();
  assert.deepEqual([statusOf(late)?.phase, late.list('VirtualMachineSnapshotContent').length], ['Failed', 0]);
  assert.equal(late.machine.status?.snapshotInProgress, undefined);
});

test('a snapshot that is deleted takes what it kept with it', () => {
  const world = afterSnapshot(false);
  world.remove(world.find('VirtualMachineSnapshot'));
  world.settle();
  assert.deepEqual([world.list('VirtualMachineSnapshot').length, world.list('VirtualMachineSnapshotContent').length], [0, 0]);
});
