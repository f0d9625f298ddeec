/**
 * A guest is moved, the move is brought to a certain place and held there, and then something happens to it. Whatever it is: the guest never runs
 * twice, none of its writes is lost, it runs again, and nothing of the move is left.
 *
 *   held while      how
 *   scheduling      the other node takes no Pods
 *   disks           they are copied slowly
 *   memory          the QEMU that takes it stands still, and with it the copy; the guest runs on
 *   handing over    not held: the instance has just become that of the other node
 *
 * On a real Kubernetes (E2E_REAL_CLUSTER, see test/kubernetes/scenarios/moves.ts) its parts are killed one by one. Embedded, API server, virt-controller and virt-handlers are
 * one process and are killed together, and a virt-handler alone is away with its kubelet (`virtctl node stop`).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import type { RealCluster } from '../../../tools/kubernetes/cluster.ts';
import { EmbeddedCluster } from '../../e2e/harness.ts';
import { type Counted, filesOfKubelets, foundAtBoot, manifest, NAME, qemus, readCount, takesMemory } from './moving-guest.ts';

type Place = 'scheduling' | 'disks' | 'memory' | 'handing over';
type Held = { readonly source: string; readonly target: string; readonly sourceQemu?: number; readonly targetQemu?: number };
type Fault = {
  readonly places: readonly Place[];
  readonly happens: (world: World, held: Held) => Promise<unknown>;
  /** What people do about it, or what comes back. */
  readonly after?: (world: World, held: Held) => Promise<unknown>;
  /** Starts from nothing, or with a new boot. */
  readonly ends?: 'boot';
};

const ALL: readonly Place[] = ['scheduling', 'disks', 'memory', 'handing over'];
const COPYING: readonly Place[] = ['disks', 'memory'];
const SETTLE_MS = 300_000;
const LOOK_MS = 50;
/** The memory is sent in a second or two. */
const LOOK_AT_MEMORY_MS = 5;
/** A program that is run for each look takes the processor away from what is waited for. */
const READ_MS = 1_000;
const API_AWAY_MS = 10_000;

const REAL = process.env['E2E_REAL_CLUSTER'];

const EVERYWHERE: Readonly<Record<string, Fault>> = {
  'nothing happens': { places: ALL, happens: async () => {} },
  'it is cancelled': { places: ALL, happens: ({ cluster }) => cluster.virtctl(['migrate-cancel', NAME]) },
  'it is to be moved once more': {
    places: ALL.slice(0, 3),
    happens: async ({ cluster }) => {
      const { code, stderr } = await cluster.virtctl(['migrate', NAME]);
      assert.deepEqual([code === 0, /in-flight|already|being moved|under way/i.test(stderr)], [false, true], stderr);
    },
  },
  "the target's QEMU is killed": { places: COPYING, happens: async (_, { targetQemu }) => end(targetQemu) },
  'the QEMU that it has come to is killed': {
    places: ['handing over'],
    happens: async (_, { targetQemu }) => end(targetQemu),
    ends: 'boot',
  },
  "the target's Pod is deleted": { places: ALL.slice(0, 3), happens: (world) => world.deleteTargetPod() },
  "the source's QEMU is killed": { places: ALL.slice(0, 3), happens: async (_, { sourceQemu }) => end(sourceQemu), ends: 'boot' },
  'the QEMU that it has left is killed': {
    places: ['handing over'],
    happens: async (_, { sourceQemu }) => ignoringGone(() => end(sourceQemu)),
  },
  'the machine is stopped': {
    places: ALL,
    happens: ({ cluster }) => cluster.must('virtctl', ['stop', NAME]),
    after: (world) => world.startAfterNone(),
    ends: 'boot',
  },
  'the machine is deleted': {
    places: ALL,
    happens: ({ cluster }) => cluster.must('kubectl', ['delete', 'vm', NAME, '--wait=false']),
    after: (world) => world.createAfterNone(),
    ends: 'boot',
  },
};

const EMBEDDED: Readonly<Record<string, Fault>> = {
  'the cluster is killed': { places: ALL, happens: (world) => world.kill(), after: ({ cluster }) => cluster.must('virtctl', ['up']) },
  "the target's node stops": {
    places: ALL.slice(1),
    happens: ({ cluster }, { target }) => cluster.must('virtctl', ['node', 'stop', target]),
    after: ({ cluster }, { target }) => cluster.must('virtctl', ['node', 'start', target]),
  },
  "the target's node is cut off": {
    places: COPYING,
    happens: ({ cluster }, { target }) => cluster.must('virtctl', ['node', 'kill', target, '--yes']),
    after: ({ cluster }, { target }) => cluster.must('virtctl', ['node', 'start', target]),
  },
  "the source's node stops": {
    places: ALL,
    happens: ({ cluster }, { source }) => cluster.must('virtctl', ['node', 'stop', source]),
    after: ({ cluster }, { source }) => cluster.must('virtctl', ['node', 'start', source]),
  },
  "the source's node is cut off": {
    places: COPYING,
    happens: ({ cluster }, { source }) => cluster.must('virtctl', ['node', 'kill', source, '--yes']),
    after: ({ cluster }, { source }) => cluster.must('virtctl', ['node', 'start', source]),
    ends: 'boot',
  },
  'the node that it has come to is cut off': {
    places: ['handing over'],
    happens: async ({ cluster }, { target }) => {
      await cluster.must('virtctl', ['node', 'kill', target, '--yes']);
      await cluster.until(`vm/${NAME}`, '.status.printableStatus', 'Unknown');
    },
    after: ({ cluster }, { target }) => cluster.must('virtctl', ['node', 'start', target]),
    ends: 'boot',
  },
  "the target's node is deleted": {
    places: COPYING,
    happens: ({ cluster }, { target }) => cluster.must('kubectl', ['delete', 'node', target]),
    after: (world, { target }) => world.untilNodeIsBack(target),
  },
  "the source's node is deleted": {
    places: COPYING,
    happens: ({ cluster }, { source }) => cluster.must('kubectl', ['delete', 'node', source]),
    after: (world, { source }) => world.untilNodeIsBack(source),
  },
};

const rolledOut = (world: World) => world.untilRolledOut();
const KUBERNETES: Readonly<Record<string, Fault>> = {
  "the target's virt-handler is killed": {
    places: ALL.slice(1),
    happens: (world, { target }) => world.killPods('virt-handler', target),
    after: rolledOut,
  },
  "the source's virt-handler is killed": {
    places: ALL,
    happens: (world, { source }) => world.killPods('virt-handler', source),
    after: rolledOut,
  },
  'virt-controller is killed': { places: ALL, happens: (world) => world.killPods('virt-controller'), after: rolledOut },
  'virt-api is killed': { places: COPYING, happens: (world) => world.killPods('virt-api'), after: rolledOut },
  'the API server is away': { places: ALL, happens: () => withoutApiServer(), after: rolledOut },
};
const FAULTS: Readonly<Record<string, Fault>> = { ...EVERYWHERE, ...(REAL === undefined ? EMBEDDED : KUBERNETES) };

/** A part of them in the usual set; `npm run test:soak` asks for all. */
const SAMPLE: readonly (readonly [string, Place])[] =
  REAL === undefined
    ? [
        ['the cluster is killed', 'memory'],
        ["the target's QEMU is killed", 'disks'],
      ]
    : [
        ["the source's virt-handler is killed", 'memory'],
        ['virt-controller is killed', 'disks'],
      ];
const MATRIX = Object.entries(FAULTS).flatMap(([name, { places }]) => places.map((place) => [name, place] as const));
const wanted = process.env['MIGRATION_FAULTS'] ?? '';
const CASES = wanted === 'all' ? MATRIX : wanted === '' ? SAMPLE : MATRIX.filter(([name, place]) => `${name} ${place}`.includes(wanted));

test('whatever happens to a move', { timeout: 600_000 + CASES.length * 600_000 }, async (t) => {
  await using cluster = await EmbeddedCluster.start({ guests: ['tiny'], nodes: 2 });
  await cluster.must('kubectl', ['apply', '-f', '-'], { input: manifest() });
  const world = new World(cluster);
  let last = await world.settled(undefined);
  for (const [name, place] of CASES) {
    await t.test(`${name}: ${place}`, async () => {
      const { happens, after, ends } = FAULTS[name] ?? assert.fail(name);
      const held = await world.hold(place);
      last = (await readCount(cluster)) ?? last;
      await happens(world, held);
      world.letGo(held);
      await after?.(world, held);
      const now = await world.settled(last);
      if (ends !== 'boot') assert.equal(now.boot, last.boot, 'the guest was started anew');
      else if (now.boot !== last.boot) assert.ok((await foundAtBoot(cluster, now.boot)) >= last.count, 'the shared disk has lost a write');
      last = now;
    });
  }
});

class World {
  readonly cluster: EmbeddedCluster;

  constructor(cluster: EmbeddedCluster) {
    this.cluster = cluster;
  }

  /** Begins a move, and brings it to this place. */
  async hold(place: Place): Promise<Held> {
    const { cluster } = this;
    const source = await this.#state('nodeName');
    const [target = '', ...others] = (await this.#nodes()).filter((node) => node !== source);
    await this.#pace(place === 'disks' ? '4Mi' : '64Mi');
    const closed = place === 'scheduling' ? [target, ...others] : others;
    if (closed.length > 0) await cluster.must('kubectl', ['cordon', ...closed]);
    const before = qemus(cluster);
    const sourceQemu = [...before.values()][0];
    await cluster.must('virtctl', ['migrate', NAME]);
    const held = { source, target, ...(sourceQemu !== undefined && { sourceQemu }) };
    if (place === 'scheduling') {
      await this.#until('the target Pod', async () => (await this.#phases()).includes('Scheduling'));
      return held;
    }
    let targetQemu: number | undefined;
    await this.#until('the QEMU of the target', async () => {
      targetQemu = [...qemus(cluster)].find(([uid]) => !before.has(uid))?.[1];
      return targetQemu !== undefined;
    });
    if (targetQemu === undefined) throw new Error('there is none');
    if (place === 'memory') await this.#stopTakingMemory(targetQemu);
    if (place === 'disks') await this.#until('the copy', async () => (await this.#state('migrationState.startTimestamp')) !== '');
    if (place === 'handing over') await this.#until('the hand-over', async () => (await this.#state('nodeName')) === target);
    return { ...held, targetQemu };
  }

  async #stopTakingMemory(pid: number): Promise<void> {
    await this.#until('the memory', async () => takesMemory(pid), LOOK_AT_MEMORY_MS);
    process.kill(pid, 'SIGSTOP');
  }

  /** What stood still goes on. */
  letGo({ targetQemu }: Held): void {
    if (targetQemu !== undefined) ignoringGone(() => process.kill(targetQemu, 'SIGCONT'));
  }

  /** Of a component of a real Kubernetes, all or that of one node: without a chance to clean up. Others take their places. */
  async killPods(component: string, node?: string): Promise<void> {
    const ofNode = node === undefined ? [] : [`--field-selector=spec.nodeName=${node}`];
    const pods = ['pods', '-n', 'kubevirt', '-l', `kubevirt.io=${component}`, ...ofNode];
    await this.cluster.must('kubectl', ['delete', ...pods, '--force', '--grace-period=0']);
  }

  async untilRolledOut(): Promise<void> {
    for (const each of ['deployment/virt-api', 'deployment/virt-controller', 'daemonset/virt-handler'])
      await this.cluster.must('kubectl', ['rollout', 'status', '-n', 'kubevirt', each, '--timeout=200s']);
  }

  /** It has registered again, and takes machines. */
  async untilNodeIsBack(node: string): Promise<void> {
    const isBack = async () => {
      const path = 'jsonpath={.metadata.labels.kubevirt\\.io/schedulable} {.status.conditions[?(@.type=="Ready")].status}';
      return (await this.cluster.kubectl(['get', 'node', node, '-o', path])).stdout === 'true True';
    };
    await this.#until('the node', isBack, READ_MS);
  }

  async kill(): Promise<void> {
    process.kill(this.cluster.pid(), 'SIGKILL');
  }

  /** That of the move under way: the Pod that the guest is in was made for a move before. */
  async deleteTargetPod(): Promise<void> {
    const { cluster } = this;
    const path = 'jsonpath={range .items[*]}{.metadata.uid} {.status.phase}{"\\n"}{end}';
    const moves = (await cluster.must('kubectl', ['get', 'vmim', '-o', path])).split('\n').map((line) => line.split(' '));
    const [uid] = moves.find(([, phase = '']) => !['', 'Succeeded', 'Failed'].includes(phase)) ?? assert.fail('no move is under way');
    await cluster.must('kubectl', ['delete', 'pod', '-l', `kubevirt.io/migrationJobUID=${uid}`, '--wait=false']);
  }

  async startAfterNone(): Promise<void> {
    await this.#until('no QEMU', async () => qemus(this.cluster).size === 0);
    await this.cluster.must('virtctl', ['start', NAME]);
  }

  async createAfterNone(): Promise<void> {
    await this.#until('no QEMU', async () => qemus(this.cluster).size === 0);
    await this.cluster.must('kubectl', ['wait', `vmi/${NAME}`, '--for=delete', '--timeout=60s']);
    await this.cluster.must('kubectl', ['apply', '-f', '-'], { input: manifest() });
  }

  /** One QEMU, no move under way, no socket and no Pod of one left, and the guest counts on. */
  async settled(last: Counted | undefined): Promise<Counted> {
    const { cluster } = this;
    await cluster.must('kubectl', ['uncordon', ...(await this.#nodes())]);
    await cluster.must('kubectl', ['delete', 'migrationpolicy', NAME, '--ignore-not-found']);
    const isOver = async () => (await this.#phases()).every((phase) => phase === 'Succeeded' || phase === 'Failed');
    await this.#until('an end of the move', isOver, READ_MS);
    await this.#until('one QEMU', async () => qemus(cluster).size === 1);
    await cluster.until(`vm/${NAME}`, '.status.printableStatus', 'Running', SETTLE_MS / 1000);
    let now: Counted | undefined;
    await this.#until(
      'that it counts',
      async () => {
        now = await readCount(cluster);
        return now !== undefined && (now.boot !== last?.boot || now.count > last.count);
      },
      READ_MS,
    );
    assert.deepEqual(socketsLeft(cluster), []);
    const living = ['--field-selector=status.phase!=Succeeded,status.phase!=Failed', '-o', 'name'];
    const pods = await cluster.must('kubectl', ['get', 'pods', '-l', `vm.kubevirt.io/name=${NAME}`, ...living]);
    assert.equal(pods.trim().split('\n').length, 1, pods);
    assert.equal(qemus(cluster).size, 1);
    return now ?? assert.fail('it has not counted');
  }

  async #nodes(): Promise<readonly string[]> {
    return (await this.cluster.must('kubectl', ['get', 'nodes', '-o', 'jsonpath={.items[*].metadata.name}'])).split(' ');
  }

  async #phases(): Promise<readonly string[]> {
    const { stdout } = await this.cluster.kubectl(['get', 'vmim', '-o', 'jsonpath={.items[*].status.phase}']);
    return stdout.split(' ').filter((phase) => phase !== '');
  }

  #state(field: string): Promise<string> {
    return this.cluster.field('vmi', NAME, `.status.${field}`);
  }

  #pace(bandwidthPerMigration: string): Promise<unknown> {
    const spec = { selectors: { virtualMachineInstanceSelector: { pace: 'slow' } }, bandwidthPerMigration };
    const policy = { apiVersion: 'migrations.kubevirt.io/v1alpha1', kind: 'MigrationPolicy', metadata: { name: NAME }, spec };
    return this.cluster.must('kubectl', ['apply', '-f', '-'], { input: JSON.stringify(policy) });
  }

  async #until(what: string, isSo: () => Promise<boolean>, everyMs = LOOK_MS): Promise<void> {
    const deadline = performance.now() + SETTLE_MS;
    while (!(await isSo())) {
      if (performance.now() > deadline) {
        const { stdout } = await this.cluster.kubectl(['get', 'vm,vmi,vmim,pods', '-o', 'wide']);
        throw new Error(`waited in vain for ${what}: ${[...qemus(this.cluster)].join('; ')}\n${stdout}`);
      }
      await systemClock.sleep(everyMs);
    }
  }
}

/** Loaded where there is one. */
async function realCluster(): Promise<RealCluster> {
  const { RealCluster } = await import('../../../tools/kubernetes/cluster.ts');
  return RealCluster.open(REAL);
}

async function withoutApiServer(): Promise<void> {
  const cluster = await realCluster();
  await cluster.stop('kube-apiserver');
  await systemClock.sleep(API_AWAY_MS);
  await cluster.startAgain('kube-apiserver');
}

/** Of ways to other nodes. */
function socketsLeft(cluster: EmbeddedCluster): readonly string[] {
  return filesOfKubelets(cluster).filter((path) => /outgoing-\w+\.sock$/.test(path));
}

function end(pid: number | undefined): void {
  assert.ok(pid, 'there is no QEMU to end');
  process.kill(pid, 'SIGKILL');
}

function ignoringGone(act: () => void): void {
  try {
    act();
  } catch {
    // it has ended
  }
}
