/** Backups on a toy cluster, with virt-controller killed after each of its steps, and a toy virt-handler. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../api/core/pod.ts';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import { type BackupRequest, backupRequestOf, isRequestOver } from '../../api/kubevirt/backup.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { VirtualMachineBackup } from '../../api/kubevirt/kinds/vm-backup.ts';
import type { VirtualMachineBackupTracker } from '../../api/kubevirt/kinds/vm-backup-tracker.ts';
import { BACKUP_CONTAINER, backupPodNameOf } from '../../api/launcher/backup.ts';
import { controllerReferenceTo, isDeleting, type KubeObject } from '../../api/meta.ts';
import { mergePatch } from '../../base/json.ts';
import { explain } from '../../reconcile/decision.ts';
import { launcherPod, vm, vmi } from '../../testing/builders.ts';
import { Cluster } from '../cluster.testing.ts';
import { decideVmBackup } from './decide.ts';
import type { ObservedVmBackup } from './observed.ts';

const TRACKER = { apiGroup: 'backup.kubevirt.io', kind: 'VirtualMachineBackupTracker', name: 'nightly' };
const MACHINE = { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'db' };

class World extends Cluster {
  /** What QEMU remembers since. */
  checkpoints: string[] = [];
  /** What the PVC has. */
  readonly files: string[] = [];
  /** What virt-handler makes of the next one. */
  failure: string | undefined;

  constructor() {
    super();
    this.put(vm('Always'));
    this.start();
    this.put({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { namespace: 'default', name: 'backups' }, spec: {} } as never);
    this.put({ ...named('VirtualMachineBackupTracker', 'nightly'), spec: { source: MACHINE } } as never);
  }

  start(): void {
    const machine = this.find<VirtualMachine>('VirtualMachine') as VirtualMachine;
    const instance = vmi('Running', { nodeName: 'n1' });
    const ownerReferences = [controllerReferenceTo(machine)];
    this.put({ ...instance, metadata: { ...instance.metadata, ownerReferences } });
    this.put(launcherPod({ running: { startedAt: '2026-01-01T00:00:00Z' } }));
  }

  ask(name: string, spec: object = {}): void {
    this.put({ ...named('VirtualMachineBackup', name), spec: { source: TRACKER, pvcName: 'backups', ...spec } } as never);
  }

  backup(name: string): VirtualMachineBackup | undefined {
    return this.find<VirtualMachineBackup>('VirtualMachineBackup', name);
  }

  get instance(): VirtualMachineInstance | undefined {
    return this.find<VirtualMachineInstance>('VirtualMachineInstance');
  }

  get latest(): string | undefined {
    return this.find<VirtualMachineBackupTracker>('VirtualMachineBackupTracker')?.status?.latestCheckpoint?.name;
  }

  said(name: string): string[] {
    return (this.backup(name)?.status?.conditions ?? []).flatMap(({ type, status }) => (status === 'True' ? type : []));
  }

  observe(name: string): ObservedVmBackup | undefined {
    const backup = this.backup(name);
    if (!backup) return undefined;
    const trackers = this.list<VirtualMachineBackupTracker>('VirtualMachineBackupTracker');
    const { instance } = this;
    const pods = this.list<Pod>('Pod');
    const podName = instance && backupPodNameOf(instance);
    return {
      ...{ backup, tracker: backup.spec.source.kind === TRACKER.kind ? trackers[0] : undefined, trackers },
      ...{ vm: this.find<VirtualMachine>('VirtualMachine'), vmi: instance },
      launcher: pods.find(({ metadata }) => metadata.name !== podName),
      pod: pods.find(({ metadata }) => metadata.name === podName),
      claim: this.find<PersistentVolumeClaim>('PersistentVolumeClaim', backup.spec.pvcName ?? ''),
      ...{ launcherImage: 'launcher', now: this.now },
    };
  }

  /** One step of everybody else: the kubelet starts and ends Pods, virt-handler does what it is asked for. */
  others(): unknown {
    const { instance } = this;
    const pod = this.list<Pod>('Pod').find(({ metadata }) => instance && metadata.name === backupPodNameOf(instance));
    if (pod && isDeleting(pod)) return this.drop(pod);
    if (pod && !pod.status?.containerStatuses) {
      const started = [{ name: BACKUP_CONTAINER, ready: true, restartCount: 0, state: { running: { startedAt: '2026-01-01T00:00:00Z' } } }];
      return this.put({ ...pod, status: { phase: 'Running', containerStatuses: started } } as never);
    }
    const request = instance && backupRequestOf(instance);
    if (!request || isRequestOver(request) || request.podUID === undefined) return undefined;
    if (request.startTimestamp === undefined) return this.write({ startTimestamp: '2026-01-01T00:00:01Z' });
    if (request.abort || this.failure !== undefined) return this.write({ failed: true, backupMsg: this.failure ?? 'nobody wants it' });
    const { baseCheckpoint: base, checkpointName } = request;
    const isKnown = base !== undefined && this.checkpoints.includes(base);
    const type = isKnown ? 'Incremental' : 'Full';
    this.checkpoints = [
      ...this.checkpoints.filter((each) => request.keptCheckpoints?.includes(each)),
      ...(checkpointName ? [checkpointName] : []),
    ];
    this.files.push(`${type} ${request.backupName}${isKnown ? ` on ${base}` : ''}`);
    return this.write({ completed: true, type, bytes: 1, quiesceStatus: 'Skipped', endTimestamp: '2026-01-01T00:00:02Z' });
  }

  write(backupStatus: Partial<BackupRequest>): void {
    this.put(mergePatch(this.instance, { status: { changedBlockTracking: { backupStatus } } }) as VirtualMachineInstance);
  }

  /** The controller is killed after its first action in every pass, in all passes but those that have one alone. */
  settle(...names: string[]): void {
    for (let pass = 0; pass < 60; pass++) {
      for (const name of names) {
        const observed = this.observe(name);
        const decided = observed && decideVmBackup(observed);
        if (decided) this.apply({ actions: decided.actions.slice(0, 1) });
      }
      this.others();
      this.now += 1000;
    }
  }
}

function drop(world: World, kind: string): void {
  for (const object of world.list<KubeObject>(kind)) world.drop(object);
}

function named(kind: string, name: string) {
  return { apiVersion: 'backup.kubevirt.io/v1alpha1', kind, metadata: { namespace: 'default', name } };
}

describe('backups of a machine', () => {
  test('the first of a tracker is a full one, the next builds on it, and nothing is left in the instance', () => {
    const world = new World();
    world.ask('one');
    world.settle('one');
    const first = world.latest;
    assert.deepEqual([world.said('one'), world.backup('one')?.status?.type, world.files], [['Done'], 'Full', ['Full one']]);
    assert.equal(world.backup('one')?.status?.checkpointName, first);
    world.ask('two');
    world.settle('one', 'two');
    assert.deepEqual([world.said('two'), world.files.at(-1)], [['Done'], `Incremental two on ${first}`]);
    assert.notEqual(world.latest, first);
    assert.deepEqual([world.instance && backupRequestOf(world.instance), world.list('Pod').length], [undefined, 1]);
  });

  test('two at once are made one after the other, each on the one before', () => {
    const world = new World();
    for (const name of ['one', 'two']) world.ask(name);
    world.settle('one', 'two');
    assert.deepEqual([world.said('one'), world.said('two'), world.files.length], [['Done'], ['Done'], 2]);
    assert.match(world.files[1] ?? '', /^Incremental/);
  });

  test('after a start of the guest it is a full one again; one of the machine itself always is, and no tracker hears of it', () => {
    const world = new World();
    world.ask('one');
    world.settle('one');
    const first = world.latest;
    world.ask('alone', { source: MACHINE });
    world.settle('alone');
    assert.deepEqual([world.files.at(-1), world.latest], ['Full alone', first]);
    world.checkpoints = [];
    world.ask('two');
    world.settle('two');
    assert.deepEqual([world.files.at(-1), world.backup('two')?.status?.type], ['Full two', 'Full']);
  });

  test('one that is forced is a full one, and the next builds on it', () => {
    const world = new World();
    for (const [name, spec] of [
      ['one', {}],
      ['two', { forceFullBackup: true }],
      ['three', {}],
    ] as const) {
      world.ask(name, spec);
      world.settle(name);
    }
    assert.deepEqual([world.files[1], world.files[2]?.startsWith('Incremental three on two-')], ['Full two', true]);
  });

  test('one that fails says why, and the next builds on the one before it', () => {
    const world = new World();
    world.ask('one');
    world.settle('one');
    const first = world.latest;
    world.failure = 'No space left on device';
    world.ask('lost');
    world.settle('lost');
    const failed = world.backup('lost')?.status?.conditions?.find(({ type }) => type === 'Failed');
    assert.deepEqual([failed?.message, world.said('lost'), world.latest], ['No space left on device', ['Failed'], first]);
    world.failure = undefined;
    world.ask('two');
    world.settle('two');
    assert.equal(world.files.at(-1), `Incremental two on ${first}`);
  });

  test('a machine that is stopped meanwhile ends it', () => {
    const world = new World();
    world.ask('one');
    while (!world.said('one').includes('Progressing')) {
      const observed = world.observe('one');
      if (observed) world.apply(decideVmBackup(observed));
    }
    if (world.instance) world.drop(world.instance);
    world.settle('one');
    assert.deepEqual([world.said('one'), world.files], [['Failed'], []]);
  });

  test('one that is deleted meanwhile is ended first, and goes', () => {
    const world = new World();
    world.ask('one');
    while (!(world.instance && backupRequestOf(world.instance)?.startTimestamp)) {
      const observed = world.observe('one');
      if (observed) world.apply(decideVmBackup(observed));
      world.others();
    }
    world.remove(world.backup('one'));
    world.settle('one');
    assert.deepEqual([world.backup('one'), world.files, world.instance && backupRequestOf(world.instance)], [undefined, [], undefined]);
    assert.equal(world.list('Pod').length, 1);
  });

  const WAITS: readonly [string, (world: World) => void, said: string, message: RegExp][] = [
    ['a tracker that is not there is waited for', (world) => drop(world, 'VirtualMachineBackupTracker'), 'Initializing', /no tracker/],
    ['a machine that does not run is waited for', (world) => drop(world, 'VirtualMachineInstance'), 'Initializing', /does not run/],
    [
      'a PVC that is not there is waited for',
      (world) => drop(world, 'PersistentVolumeClaim'),
      'Initializing',
      /PVC backups does not exist/,
    ],
    [
      'a block device is refused',
      (world) => world.edit('PersistentVolumeClaim', { spec: { volumeMode: 'Block' } }),
      'Failed',
      /block device/,
    ],
    [
      'a disk of the machine is refused',
      (world) =>
        world.edit('VirtualMachineInstance', { spec: { volumes: [{ name: 'root', persistentVolumeClaim: { claimName: 'backups' } }] } }),
      'Failed',
      /volume root of the machine is on PVC backups/,
    ],
    [
      'a guest that is moved is waited for',
      (world) =>
        world.edit('VirtualMachineInstance', {
          status: { migrationState: { migrationUid: 'm1', startTimestamp: '2026-01-01T00:00:00Z' } },
        }),
      'Initializing',
      /moved/,
    ],
  ];
  for (const [name, change, type, message] of WAITS)
    test(name, () => {
      const world = new World();
      change(world);
      world.ask('one');
      world.settle('one');
      const found = world.backup('one')?.status?.conditions?.find((each) => each.type === type);
      assert.deepEqual([found?.status, message.test(found?.message ?? ''), world.files], ['True', true, []], found?.message);
    });

  test('a Pod that does not come is waited for two minutes', () => {
    const world = new World();
    world.ask('one');
    const step = () => {
      const observed = world.observe('one');
      const decided = observed ? decideVmBackup(observed) : { actions: [] };
      world.apply(decided);
      return explain(decided);
    };
    for (let pass = 0; pass < 5; pass++) step();
    assert.deepEqual(step(), ['look again in 120s']);
    world.now += 120_000;
    for (let pass = 0; pass < 3; pass++) step();
    assert.deepEqual(world.said('one'), ['Failed']);
  });
});
