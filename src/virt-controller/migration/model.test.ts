/**
 * Random histories of an instance that is moved: users, Pods and the two nodes do what they may do at any time, and virt-controller decides on a state that is
 * behind, as two of them do for a moment when one takes over from the other. What the nodes decide is in virt-handler/migration/model.test.ts; here they only do what they may.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../api/core/pod.ts';
import { isPodFinal } from '../../api/core/pod.ts';
import { DEFAULT_MIGRATIONS } from '../../api/kubevirt/configuration/migration-settings.ts';
import { isOnItsWay } from '../../api/kubevirt/exclusive-operations.ts';
import {
  isMigrationFinal,
  isMoving,
  type MigrationPhase,
  type MigrationState,
  type VirtualMachineInstanceMigration,
} from '../../api/kubevirt/kinds/migration.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { LABEL_MIGRATION_TARGET_NODE, LABEL_NODE_NAME } from '../../api/kubevirt/names.ts';
import { currentLauncherNameOf, isTargetOf } from '../../api/launcher/pod-name.ts';
import { isDeleting, type KubeObject } from '../../api/meta.ts';
import { mergePatch } from '../../base/json.ts';
import { timestamp } from '../../base/timestamp.ts';
import { launcherPod, vmi } from '../../testing/builders.ts';
import { Cluster, type Snapshot } from '../cluster.testing.ts';
import { decideMigration } from './decide.ts';

const STEPS = 100_000;
const STEPS_PER_HISTORY = 60;
const MOST_MIGRATIONS = 4;
const MIGRATION = 'VirtualMachineInstanceMigration';
const ORDER: readonly (MigrationPhase | undefined)[] = [
  undefined,
  'Pending',
  'Scheduling',
  'Scheduled',
  'PreparingTarget',
  'TargetReady',
  'Running',
];

/** The same numbers in every run. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

class Moves {
  readonly cluster = new Cluster();
  /** How each migration ended. */
  readonly ends: MigrationPhase[] = [];
  readonly #roll: (sides: number) => number;
  readonly #story: string[] = [];
  #past: Snapshot[] = [];
  #made = 0;

  constructor(seed: number) {
    this.#roll = dice(seed);
    const conditions = [{ type: 'LiveMigratable', status: 'True' }] as const;
    this.cluster.put(vmi('Running', { nodeName: 'n1', conditions }, { labels: { [LABEL_NODE_NAME]: 'n1' }, finalizers: ['held'] }));
    this.cluster.put(launcherPod({ running: { startedAt: timestamp(this.cluster.now) } }));
  }

  step(): void {
    const names = Object.keys(this.#acts);
    const name = this.#roll(2) === 0 ? 'virt-controller looks' : (names[this.#roll(names.length)] ?? '');
    const before = this.cluster.snapshot;
    this.#acts[name]?.();
    if (this.cluster.snapshot !== before) this.#story.push(name);
    this.#check(before);
    this.#past = [...this.#past, this.cluster.snapshot].slice(-6);
  }

  /** Nobody asks for anything any more, all do what is theirs, and the caches are current. */
  rest(): void {
    for (let round = 0; round < 60; round++) {
      const before = this.cluster.snapshot;
      for (const name of [
        'the kubelets work',
        'the target has no Pod',
        'the target is ready',
        'the source begins',
        'the guest is handed over',
      ])
        this.#acts[name]?.();
      for (const name of ['the guest arrives', 'the source stays', 'the source has it back']) this.#acts[name]?.();
      this.#look(this.cluster.snapshot);
      this.#check(before);
      this.cluster.now += 5_000;
    }
    const [left, instance] = [this.cluster.list<VirtualMachineInstanceMigration>(MIGRATION), this.#vmi];
    for (const each of left) {
      this.#isSo(isMigrationFinal(each) && !isDeleting(each) && !each.metadata.finalizers?.length, `${each.metadata.name} is not over`);
      if (each.status?.phase) this.ends.push(each.status.phase);
    }
    if (!instance) {
      this.#isSo(left.length === 0, 'there are migrations of an instance that is gone');
      return;
    }
    this.#isSo(!isOnItsWay(instance.status?.migrationState), 'the guest is on its way');
    // Of a migration that was gone when the nodes were told, the label stays until the next: nobody goes by it once the move is over.
    const isThere = left.some(({ metadata }) => metadata.uid === instance.status?.migrationState?.migrationUid);
    const isLabelled = instance.metadata.labels?.[LABEL_MIGRATION_TARGET_NODE] !== undefined;
    this.#isSo(!isThere || !isLabelled, 'a node still waits for it');
    const living = this.#pods.filter((pod) => !isPodFinal(pod)).map(({ metadata }) => metadata.name);
    this.#isSo(living.join() === currentLauncherNameOf(instance), `its Pods are ${living.join()}`);
  }

  get #vmi(): VirtualMachineInstance | undefined {
    return this.cluster.find<VirtualMachineInstance>('VirtualMachineInstance');
  }

  get #pods(): readonly Pod[] {
    return this.cluster.list<Pod>('Pod');
  }

  /** Where the two nodes are with the move that they were told of. */
  get #state(): MigrationState | undefined {
    const state = this.#vmi?.status?.migrationState;
    return state?.migrationUid === undefined ? undefined : state;
  }

  readonly #acts: Readonly<Record<string, () => void>> = {
    'virt-controller looks': () => this.#look([...this.#past, this.cluster.snapshot].at(-1 - this.#roll(4)) ?? this.cluster.snapshot),
    'somebody asks for a move': () => {
      if (this.#made >= MOST_MIGRATIONS || !this.#vmi) return;
      const name = `move-${++this.#made}`;
      const metadata = { name, namespace: 'default', uid: `uid-${name}`, finalizers: [] };
      this.cluster.put({ apiVersion: 'kubevirt.io/v1', kind: MIGRATION, metadata, spec: { vmiName: 'db' } } as KubeObject);
    },
    'somebody cancels one': () => {
      const all = this.cluster.list(MIGRATION);
      this.cluster.remove(all[this.#roll(all.length + 2)]);
    },
    'the instance is deleted': () =>
      this.#roll(20) === 0 && this.#write(this.#vmi, { metadata: { deletionTimestamp: timestamp(this.cluster.now) } }),
    'time goes by': () => {
      this.cluster.now += [1_000, 30_000, 400_000, 1_000_000][this.#roll(4)] ?? 0;
    },
    'the kubelets work': () => this.#work(),
    'a Pod ends': () => {
      const comingTo = this.#pods.find((pod) => pod.metadata.name !== (this.#vmi && currentLauncherNameOf(this.#vmi)) && !isPodFinal(pod));
      if (comingTo) this.#run(comingTo, 'terminated');
    },
    'the target is ready': () => {
      if (isMoving(this.#state) && !this.#state?.targetNodeAddress && this.#isTargetUp()) this.#say({ targetNodeAddress: '10.0.0.2' });
    },
    'the target has no Pod': () => {
      const isThere = this.#pods.some(({ metadata }) => metadata.name === this.#state?.targetPod);
      if (isMoving(this.#state) && !isThere) this.#say({ failed: true, endTimestamp: this.#time() });
    },
    'the source begins': () => {
      const { targetNodeAddress, startTimestamp, abortRequested } = this.#state ?? {};
      if (isMoving(this.#state) && targetNodeAddress && !startTimestamp && !abortRequested) this.#say({ startTimestamp: this.#time() });
    },
    'the guest is handed over': () => {
      const { startTimestamp, targetNode = '' } = this.#state ?? {};
      if (!isMoving(this.#state) || !startTimestamp || !this.#isTargetUp() || (this.#vmi && isDeleting(this.#vmi))) return;
      const patch = { metadata: { labels: { [LABEL_NODE_NAME]: targetNode } }, status: { nodeName: targetNode } };
      this.#write(this.#vmi, patch);
      this.#say({ completed: true, endTimestamp: this.#time() });
    },
    'the guest arrives': () => {
      if (this.#state?.completed && !this.#state.targetNodeDomainReadyTimestamp)
        this.#say({ targetNodeDomainReadyTimestamp: this.#time() });
    },
    'the source stays': () => {
      const { startTimestamp, abortRequested } = this.#state ?? {};
      const isUnwanted = abortRequested || (this.#vmi && isDeleting(this.#vmi)) || (startTimestamp !== undefined && this.#roll(3) === 0);
      if (isMoving(this.#state) && isUnwanted) this.#say({ failed: true, endTimestamp: this.#time() });
    },
    'the source has it back': () => {
      const { failed, startTimestamp, sourceNodeDomainReadyTimestamp } = this.#state ?? {};
      if (failed && startTimestamp && !sourceNodeDomainReadyTimestamp) this.#say({ sourceNodeDomainReadyTimestamp: this.#time() });
    },
  };

  /** One look at each migration, at what was there then. */
  #look(seen: Snapshot): void {
    const of = <T extends KubeObject>(kind: string) => [...seen.values()].filter((each): each is T => each.kind === kind);
    const all = of<VirtualMachineInstanceMigration>(MIGRATION).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    const [instance] = of<VirtualMachineInstance>('VirtualMachineInstance');
    for (const [index, migration] of all.entries()) {
      const { uid = '' } = migration.metadata;
      const pods = of<Pod>('Pod');
      this.cluster.apply(
        decideMigration({
          migration,
          vmi: instance,
          sourcePod: pods.find(({ metadata }) => metadata.name === migration.status?.migrationState?.sourcePod),
          targetPod: instance && pods.find((pod) => isTargetOf(pod, instance, uid)),
          earlier: all.slice(0, index).find((each) => !isMigrationFinal(each))?.metadata.name,
          underWay: { inCluster: 0, fromNode: 0 },
          finished: all.filter(isMigrationFinal).toReversed(),
          settings: DEFAULT_MIGRATIONS,
          launcher: { image: 'launcher' },
          now: this.cluster.now,
        }),
      );
    }
  }

  /** Pods come up, end when they are deleted, and when their guest has left; an instance that is to end does when no Pod of it lives. */
  #work(): void {
    const instance = this.#vmi;
    for (const pod of this.#pods) {
      if (isDeleting(pod)) this.cluster.drop(pod);
      else if (pod.status?.containerStatuses === undefined) this.#run(pod, 'running');
      else if (instance && this.#hasLeft(instance, pod)) this.#run(pod, 'terminated');
    }
    if (!instance || !isDeleting(instance) || isMoving(this.#state)) return;
    this.cluster.drop(instance);
    for (const pod of this.#pods) this.cluster.drop(pod);
  }

  #hasLeft({ status }: VirtualMachineInstance, { metadata: { name } }: Pod): boolean {
    const { completed, targetNodeDomainReadyTimestamp, sourcePod } = status?.migrationState ?? {};
    return completed === true && targetNodeDomainReadyTimestamp !== undefined && sourcePod === name;
  }

  #run(pod: Pod, how: 'running' | 'terminated'): void {
    const at = timestamp(this.cluster.now);
    const state = how === 'running' ? { running: { startedAt: at } } : { terminated: { exitCode: 0, reason: 'Completed', finishedAt: at } };
    const nodeName = pod.spec.nodeName ?? (this.#vmi?.status?.nodeName === 'n1' ? 'n2' : 'n1');
    this.cluster.put({ ...pod, spec: { ...pod.spec, nodeName }, status: launcherPod(state).status } as Pod);
  }

  #isTargetUp(): boolean {
    const pod = this.#pods.find(({ metadata }) => metadata.name === this.#state?.targetPod);
    return pod !== undefined && !isDeleting(pod) && pod.status?.phase === 'Running';
  }

  #say(migrationState: MigrationState): void {
    this.#write(this.#vmi, { status: { migrationState } });
  }

  #write(object: KubeObject | undefined, patch: object): void {
    if (object) this.cluster.put(mergePatch(object, patch) as KubeObject);
  }

  #time(): string {
    return timestamp(this.cluster.now);
  }

  /** What never happens, whatever was seen. */
  #check(before: Snapshot): void {
    const was = [...before.values()].find(({ kind }) => kind === 'VirtualMachineInstance') as VirtualMachineInstance | undefined;
    const [old, now] = [was?.status?.migrationState, this.#vmi?.status?.migrationState];
    this.#isSo(!(now?.completed && now.failed), 'it was moved, and stayed');
    if (old?.migrationUid !== undefined && old.migrationUid !== now?.migrationUid && this.#vmi)
      this.#isSo(!isOnItsWay(old), 'the nodes were told of another move before the guest was there or back');
    if (old?.migrationUid === now?.migrationUid)
      for (const word of ['completed', 'failed'] as const) this.#isSo(!old?.[word] || now?.[word] === true, `${word} was taken back`);
    const home = this.#vmi && this.#pods.find(({ metadata }) => metadata.name === currentLauncherNameOf(this.#vmi!)); // as looked at
    if (this.#vmi && !isDeleting(this.#vmi)) this.#isSo(home !== undefined && !isDeleting(home), 'the Pod that the guest is in was ended');
    for (const { metadata, status } of this.cluster.list<VirtualMachineInstanceMigration>(MIGRATION)) {
      const previous = (before.get(`${MIGRATION} ${metadata.name}`) as VirtualMachineInstanceMigration | undefined)?.status?.phase;
      const isForward = previous === status?.phase || !previous || ORDER.indexOf(previous) + 1 === ORDER.indexOf(status?.phase);
      const isEnd = isMigrationFinal({ ...(status && { status }) }) && !(previous && ['Succeeded', 'Failed'].includes(previous));
      this.#isSo(isForward || isEnd, `${metadata.name} went from ${previous} to ${status?.phase}`);
    }
  }

  #isSo(isTrue: boolean, otherwise: string): void {
    assert.ok(isTrue, `${otherwise}; after: ${this.#story.join(', ')}`);
  }
}

test(`whatever happens in which order in ${STEPS} steps, a guest keeps its Pod, and each migration ends and leaves nothing`, () => {
  const ends: Partial<Record<MigrationPhase, number>> = {};
  for (let seed = 1; seed <= STEPS / STEPS_PER_HISTORY; seed++) {
    const moves = new Moves(seed);
    for (let step = 0; step < STEPS_PER_HISTORY; step++) moves.step();
    moves.rest();
    for (const end of moves.ends) ends[end] = (ends[end] ?? 0) + 1;
  }
  // Each end is reached often enough for the test to mean something.
  assert.ok((ends.Succeeded ?? 0) > 300 && (ends.Failed ?? 0) > 300, JSON.stringify(ends));
});
