import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ControllerRevision } from '../../api/core/controller-revision.ts';
import type { VirtualMachinePool } from '../../api/kubevirt/kinds/pool.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { controllerReferenceTo, isControlledBy, isDeleting, type KubeObject } from '../../api/meta.ts';
import { timestamp } from '../../base/timestamp.ts';
import { type Decision, explain } from '../../reconcile/decision.ts';
import { tinySpec, vm as vmOf } from '../../testing/builders.ts';
import { Cluster } from '../cluster.testing.ts';
import { decidePool } from './decide.ts';
import type { ObservedPool } from './observed.ts';
import { LABEL_POOL_REVISION } from './revision.ts';

type Spec = Partial<VirtualMachinePool['spec']>;
const labels = { app: 'web' };

function pool(spec: Spec = {}): VirtualMachinePool {
  return {
    apiVersion: 'pool.kubevirt.io/v1beta1',
    kind: 'VirtualMachinePool',
    metadata: { name: 'web', namespace: 'default', uid: 'pool-1', resourceVersion: '1', generation: 1 },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      virtualMachineTemplate: { metadata: { labels }, spec: { runStrategy: 'Always', template: { spec: tinySpec } } },
      ...spec,
    },
  };
}

/** A pool whose machines come up at once when they are made, and again when their guests are ended. */
class Pools extends Cluster {
  mostAway = 0;
  left = Number.POSITIVE_INFINITY;

  override apply({ actions }: Decision): void {
    const done = actions.slice(0, this.left);
    this.left -= done.length;
    super.apply({ actions: done });
  }

  get pool(): VirtualMachinePool {
    const [first] = this.list<VirtualMachinePool>('VirtualMachinePool');
    assert.ok(first);
    return first;
  }

  get vms(): readonly VirtualMachine[] {
    return this.list<VirtualMachine>('VirtualMachine').filter((each) => !isDeleting(each));
  }

  get names(): string[] {
    return this.vms.map(({ metadata }) => metadata.name).sort();
  }

  get revisions(): readonly ControllerRevision[] {
    return this.list<ControllerRevision>('ControllerRevision');
  }

  observe(): ObservedPool {
    const { pool: current } = this;
    const vmis = this.list<VirtualMachineInstance>('VirtualMachineInstance');
    const fits = (each: VirtualMachine) => isControlledBy(each, current) || !each.metadata.ownerReferences?.length;
    return {
      pool: current,
      vms: this.list<VirtualMachine>('VirtualMachine').filter(fits),
      takenNames: new Set(
        this.list('VirtualMachine')
          .filter((each) => !isControlledBy(each, current))
          .map(({ metadata }) => metadata.name),
      ),
      vmis: new Map(vmis.map((each) => [each.metadata.name, each])),
      nodeLabels: new Map([['n1', { zone: 'a' }]]),
      revisions: this.revisions.filter((each) => isControlledBy(each, current)),
      mayAdopt: true,
      now: this.now,
    };
  }

  pass(): boolean {
    const decision = decidePool(this.observe());
    this.apply(decision);
    this.#guests();
    return decision.actions.length > 0;
  }

  settle(): this {
    for (let pass = 0; pass < 500; pass++) if (!this.pass()) return this;
    throw new Error(`still changing: ${explain(decidePool(this.observe())).slice(0, 5)}`);
  }

  /** The machine controller in short: a guest for each machine, of what the machine says; one that was ended comes back at the next look. */
  #guests(): void {
    const before = this.list<VirtualMachineInstance>('VirtualMachineInstance');
    const away = this.vms.filter((each) => !before.some(({ metadata }) => metadata.name === each.metadata.name)).length;
    if (before.length > 0) this.mostAway = Math.max(this.mostAway, away);
    for (const vmi of before) if (!this.vms.some(({ metadata }) => metadata.name === vmi.metadata.name)) this.drop(vmi);
    for (const each of this.vms) {
      if (before.some(({ metadata }) => metadata.name === each.metadata.name)) continue;
      const { name, namespace } = each.metadata;
      this.put({
        apiVersion: 'kubevirt.io/v1',
        kind: 'VirtualMachineInstance',
        metadata: { name, namespace, labels: each.spec.template.metadata?.labels, ownerReferences: [controllerReferenceTo(each)] },
        status: { phase: 'Running', nodeName: 'n1', conditions: [{ type: 'Ready', status: 'True' }] },
      } as KubeObject);
      this.put({ ...each, status: { ...each.status, ready: true } } as VirtualMachine);
    }
  }

  guestRevisions(): string[] {
    return [...new Set(this.list('VirtualMachineInstance').map(({ metadata }) => metadata.labels?.[LABEL_POOL_REVISION] ?? ''))].sort();
  }
}

function worldOf(spec: Spec = {}): Pools {
  const world = new Pools();
  world.put(pool(spec));
  return world.settle();
}

const ram = (guest: string) => ({
  virtualMachineTemplate: { spec: { template: { spec: { domain: { memory: { guest } } } } } },
});
const NAMES = ['web-0', 'web-1', 'web-2', 'web-3'];

describe('a pool, run until nothing changes', () => {
  test('of 100 machines is scaled, rolled one tenth at a time and scaled in', () => {
    const world = worldOf({ replicas: 0, maxUnavailable: '10%' });
    world.edit('VirtualMachinePool', { spec: { replicas: 100 } });
    world.settle();
    const { status } = world.pool;
    assert.deepEqual([world.names.length, status?.replicas, status?.readyReplicas, status?.labelSelector], [100, 100, 100, 'app=web']);
    world.mostAway = 0;
    world.edit('VirtualMachinePool', { spec: ram('256Mi') });
    world.settle();
    assert.deepEqual(world.guestRevisions(), ['web-3']);
    assert.equal(world.mostAway, 10);
    assert.deepEqual(
      world.revisions.map(({ metadata }) => metadata.name),
      ['web-3'],
      'revisions that nobody names are gone',
    );
    world.edit('VirtualMachinePool', { spec: { replicas: 10 } });
    world.settle();
    assert.deepEqual([world.names.length, world.pool.status?.replicas, world.guestRevisions()], [10, 10, ['web-3']]);
  });

  test('that is edited while it rolls ends at the last word, with never more away than it may', () => {
    const world = worldOf({ replicas: 10, maxUnavailable: 2 });
    world.mostAway = 0;
    world.edit('VirtualMachinePool', { spec: ram('256Mi') });
    for (let pass = 0; pass < 4; pass++) world.pass();
    world.edit('VirtualMachinePool', { spec: ram('512Mi') });
    world.settle();
    assert.deepEqual(world.guestRevisions(), ['web-3']);
    assert.equal(world.mostAway, 2);
  });

  test('goes on after a controller that was killed after any write', () => {
    for (let writes = 0; writes < 20; writes++) {
      const world = worldOf({ replicas: 3 });
      world.left = writes;
      world.edit('VirtualMachinePool', { spec: { replicas: 5, ...ram('256Mi') } });
      for (let pass = 0; pass < 20 && world.left > 0; pass++) world.pass();
      world.left = Number.POSITIVE_INFINITY;
      world.settle();
      assert.deepEqual([world.names.length, world.guestRevisions()], [5, ['web-2']], `killed after ${writes} writes`);
    }
  });

  test('takes the lowest number that is free, past names that others have', () => {
    const world = new Pools();
    world.put(
      vmOf(
        'Halted',
        {},
        { name: 'web-1', uid: 'x', ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'other', controller: true }] },
      ),
    );
    world.put(pool({ replicas: 3 }));
    world.settle();
    assert.deepEqual(world.names, NAMES);
    const [first] = world.vms.filter(({ metadata }) => metadata.name === 'web-2');
    if (first) world.drop(first);
    world.settle();
    assert.deepEqual(world.names, NAMES);
  });

  const ORDERS: [sortPolicy: 'AscendingOrder' | 'DescendingOrder' | 'Newest' | 'Oldest', left: string[]][] = [
    ['AscendingOrder', ['web-3']],
    ['DescendingOrder', ['web-0']],
    ['Oldest', ['web-3']],
    ['Newest', ['web-0']],
  ];
  for (const [sortPolicy, left] of ORDERS) {
    test(`scales in by ${sortPolicy}`, () => {
      const world = worldOf({ replicas: 0, scaleInStrategy: { proactive: { selectionPolicy: { sortPolicy } } } });
      for (let replicas = 1; replicas <= 4; replicas++) {
        world.now += 1000;
        world.edit('VirtualMachinePool', { spec: { replicas } });
        world.settle();
      }
      world.edit('VirtualMachinePool', { spec: { replicas: 1 } });
      assert.deepEqual(world.settle().names, left);
    });
  }

  test('removes those that the selectors name before all others', () => {
    const selectors = {
      labelSelector: { matchLabels: { spare: 'yes' } },
      nodeSelectorRequirementMatcher: [{ key: 'zone', operator: 'In' as const, values: ['a'] }],
    };
    const world = worldOf({
      replicas: 4,
      scaleInStrategy: { proactive: { selectionPolicy: { sortPolicy: 'AscendingOrder', selectors } } },
    });
    const spare = world.vms.find(({ metadata }) => metadata.name === 'web-2');
    if (spare) world.put({ ...spare, metadata: { ...spare.metadata, labels: { ...spare.metadata.labels, spare: 'yes' } } });
    world.edit('VirtualMachinePool', { spec: { replicas: 2 } });
    assert.deepEqual(world.settle().names, ['web-1', 'web-3']);
  });

  for (const scaleInStrategy of [{ unmanaged: {} }, { opportunistic: {} }]) {
    test(`leaves machines alone when it is too large: ${JSON.stringify(scaleInStrategy)}`, () => {
      const world = worldOf({ replicas: 3, scaleInStrategy });
      world.edit('VirtualMachinePool', { spec: { replicas: 1 } });
      assert.equal(world.settle().names.length, 3);
    });
  }

  test('updates machines and not their guests when that is opportunistic, and nothing when it is unmanaged', () => {
    const opportunistic = worldOf({ updateStrategy: { opportunistic: {} } });
    opportunistic.edit('VirtualMachinePool', { spec: ram('256Mi') });
    opportunistic.settle();
    assert.deepEqual(opportunistic.guestRevisions(), ['web-1']);
    assert.deepEqual([...new Set(opportunistic.vms.map(({ spec }) => spec.template.spec.domain.memory?.guest))], ['256Mi']);
    const unmanaged = worldOf({ updateStrategy: { unmanaged: {} } });
    unmanaged.edit('VirtualMachinePool', { spec: ram('256Mi') });
    unmanaged.settle();
    assert.deepEqual([...new Set(unmanaged.vms.map(({ spec }) => spec.template.spec.domain.memory?.guest))], [undefined]);
  });

  test('that is only scaled has no new revision, and restarts nobody', () => {
    const world = worldOf();
    world.mostAway = 0;
    world.edit('VirtualMachinePool', { spec: { replicas: 3 } });
    world.settle();
    assert.deepEqual([world.revisions.length, world.guestRevisions()], [1, ['web-1']]);
  });

  test('replaces a machine that does not come up, when it has not for long enough', () => {
    const world = worldOf({ autohealing: { startUpFailureThreshold: 2, minFailingToStartDuration: '1m30s' } });
    const [sick] = world.vms;
    assert.ok(sick);
    const conditions = [{ type: 'Ready', status: 'False' as const, lastTransitionTime: timestamp(world.now) }];
    world.put({ ...sick, status: { ...sick.status, startFailure: { consecutiveFailCount: 2 }, conditions } } as VirtualMachine);
    assert.equal(decidePool(world.observe()).lookAgainAfterMs, 90_000);
    world.now += 90_000;
    world.settle();
    assert.ok(!world.vms.some(({ metadata }) => metadata.uid === sick.metadata.uid));
    assert.deepEqual(world.names, ['web-0', 'web-1']);
  });

  test('appends the number to what it is told to', () => {
    const volumes = [
      { name: 'c', configMap: { name: 'conf' } },
      { name: 's', secret: { secretName: 'keys' } },
    ];
    const template = { metadata: { labels }, spec: { runStrategy: 'Always' as const, template: { spec: { ...tinySpec, volumes } } } };
    const world = worldOf({ replicas: 1, virtualMachineTemplate: template, nameGeneration: { appendIndexToConfigMapRefs: true } });
    const { volumes: made } = world.vms[0]?.spec.template.spec ?? {};
    assert.deepEqual([made?.[0]?.configMap?.name, made?.[1]?.secret?.secretName], ['conf-0', 'keys']);
  });

  test('that is paused tells its status and does nothing else, and releases what no longer fits', () => {
    const world = worldOf();
    world.edit('VirtualMachinePool', { spec: { paused: true, replicas: 5 } });
    world.settle();
    assert.equal(world.names.length, 2);
    assert.ok(world.history.includes('SuccessfulPaused'));
    world.edit('VirtualMachinePool', { spec: { paused: false, replicas: 2 } });
    const [first] = world.vms;
    if (first) world.put({ ...first, metadata: { ...first.metadata, labels: {} } });
    world.settle();
    assert.deepEqual([world.names, world.vms.filter((each) => isControlledBy(each, world.pool)).length], [['web-0', 'web-1', 'web-2'], 2]);
  });

  test('whose selector takes everything, or not its own, is left alone', () => {
    for (const selector of [{}, { matchLabels: { app: 'db' } }]) assert.deepEqual(worldOf({ selector }).names, []);
  });

  test('at most 250 machines are made in one pass', () => {
    const world = worldOf({ replicas: 0 });
    world.edit('VirtualMachinePool', { spec: { replicas: 1000 } });
    assert.equal(decidePool(world.observe()).actions.length, 250);
  });
});
