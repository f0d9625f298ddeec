import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { VirtualMachineInstanceReplicaSet } from '../../api/kubevirt/kinds/replica-set.ts';
import type { VirtualMachineInstance, VmiPhase } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { controllerReferenceTo, isControlledBy, type KubeObject, type ObjectMeta } from '../../api/meta.ts';
import { type Decision, explain } from '../../reconcile/decision.ts';
import { tinySpec, vmi } from '../../testing/builders.ts';
import { Cluster } from '../cluster.testing.ts';
import { decideReplicaSet } from './decide.ts';
import type { ObservedReplicaSet } from './observed.ts';
import { deriveReplicaSetStatus } from './status.ts';

type Spec = Partial<VirtualMachineInstanceReplicaSet['spec']>;
const now = Date.parse('2026-01-01T00:00:00Z');
const deleting = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const labels = { app: 'web' };

function set(spec: Spec = {}, status: VirtualMachineInstanceReplicaSet['status'] = {}, metadata: Partial<ObjectMeta> = {}) {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstanceReplicaSet',
    metadata: { name: 'web', namespace: 'default', uid: 'rs-1', resourceVersion: '1', ...metadata },
    spec: { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: tinySpec }, ...spec },
    status,
  } as VirtualMachineInstanceReplicaSet;
}

function mine(
  name: string,
  phase: VmiPhase = 'Running',
  metadata: Partial<ObjectMeta> = {},
  ready?: 'True' | 'False',
): VirtualMachineInstance {
  const conditions = ready ? [{ type: 'Ready', status: ready }] : [];
  return vmi(
    phase,
    { conditions, nodeName: 'n1' },
    { name, uid: name, labels, ownerReferences: [controllerReferenceTo(set())], ...metadata },
  );
}

const ADD = 'create VirtualMachineInstance default/web*: 2 instances wanted';
const settled = { status: { replicas: 2, readyReplicas: 0, labelSelector: 'app=web', conditions: [] } };
const STATUS = 'patch VirtualMachineInstanceReplicaSet status default/web:';

const cases: [string, Partial<ObservedReplicaSet>, string[]][] = [
  ['a new set makes all its instances', {}, [ADD, ADD]],
  ['one instance by default', { set: set({ replicas: undefined }) }, ['create VirtualMachineInstance default/web*: 1 instances wanted']],
  ['a set of the right size tells its status', { vmis: [mine('a'), mine('b')] }, [`${STATUS} 2 instances, 0 ready`]],
  ['a settled set does nothing', { set: set({}, settled.status), vmis: [mine('a'), mine('b')] }, []],
  [
    'of too many the one without a node goes first, then the unready, then the youngest',
    {
      set: set({ replicas: 1 }),
      vmis: [mine('ready', 'Running', {}, 'True'), mine('unready', 'Running', {}, 'False'), { ...mine('placeless'), status: {} }],
    },
    [
      'delete VirtualMachineInstance default/placeless: 3 instances, 1 wanted',
      'delete VirtualMachineInstance default/unready: 3 instances, 1 wanted',
    ],
  ],
  [
    'a finished instance is removed and replaced',
    { vmis: [mine('a'), mine('b', 'Failed')] },
    [ADD, 'delete VirtualMachineInstance default/b: the instance is Failed'],
  ],
  ['an instance that goes is replaced', { vmis: [mine('a'), mine('b', 'Running', deleting)] }, [ADD]],
  [
    'an orphan that fits is adopted',
    { vmis: [mine('a', 'Running', { ownerReferences: [] })], mayAdopt: true },
    ['patch VirtualMachineInstance default/a: VirtualMachineInstanceReplicaSet web adopts it'],
  ],
  ['no orphan is adopted by a set that may be gone', { vmis: [mine('a', 'Running', { ownerReferences: [] })] }, [ADD, ADD]],
  [
    'an instance that no longer fits is released',
    { vmis: [mine('a', 'Running', { labels: {} })] },
    ['patch VirtualMachineInstance default/a: it no longer fits VirtualMachineInstanceReplicaSet web'],
  ],
  ['a paused set only tells its status', { set: set({ paused: true }) }, [`${STATUS} 0 instances, 0 ready`]],
  ['a set that is deleted makes nothing', { set: set({}, settled.status, deleting), vmis: [mine('a'), mine('b')] }, []],
  ['a set that selects nothing is left alone', { set: set({ selector: {} }) }, []],
  ['a set that does not select its own template is left alone', { set: set({ selector: { matchLabels: { app: 'db' } } }) }, []],
  ['a refusal is told before the next try', { createError: 'quota exceeded' }, [`${STATUS} 0 instances, 0 ready`, ADD, ADD]],
];

describe('decideReplicaSet', () => {
  for (const [name, observed, expected] of cases) {
    test(name, () => assert.deepEqual(explain(decideReplicaSet({ set: set(), vmis: [], mayAdopt: false, now, ...observed })), expected));
  }

  test('at most 250 instances are made in one pass', () => {
    assert.equal(decideReplicaSet({ set: set({ replicas: 1000 }), vmis: [], mayAdopt: false, now }).actions.length, 250);
  });

  test('pausing and resuming are told once', () => {
    const paused = deriveReplicaSetStatus({ set: set({ paused: true }), vmis: [], mayAdopt: false, now }, []);
    const events = [set({ paused: true }), set({ paused: true }, paused), set({ replicas: 0 }, paused)].map(
      (each) => decideReplicaSet({ set: each, vmis: [], mayAdopt: false, now }).actions[0]?.event?.reason,
    );
    assert.deepEqual(events, ['SuccessfulPaused', undefined, 'SuccessfulResumed']);
  });

  test('a refusal is a condition that leaves with its cause', () => {
    const refused = deriveReplicaSetStatus({ set: set(), vmis: [], mayAdopt: false, createError: 'quota exceeded', now }, []);
    assert.deepEqual(
      refused.conditions?.map(({ type, reason, message }) => [type, reason, message]),
      [['ReplicaFailure', 'FailedCreate', 'quota exceeded']],
    );
    const kept = deriveReplicaSetStatus({ set: set({ replicas: 0 }), vmis: [], mayAdopt: false, deleteError: 'forbidden', now }, []);
    assert.equal(kept.conditions?.[0]?.reason, 'FailedDelete');
    assert.deepEqual(deriveReplicaSetStatus({ set: set({}, refused), vmis: [], mayAdopt: false, now }, []).conditions, []);
  });

  test('the selector is told as text, for autoscalers', () => {
    const matchExpressions = [
      { key: 'tier', operator: 'In', values: ['b', 'a'] },
      { key: 'x', operator: 'DoesNotExist' },
    ];
    const text = deriveReplicaSetStatus(
      { set: set({ selector: { matchLabels: labels, matchExpressions } }), vmis: [], mayAdopt: false, now },
      [],
    );
    assert.equal(text.labelSelector, 'app=web,tier in (a,b),!x');
  });
});

describe('a replica set, run until nothing changes', () => {
  class Sets extends Cluster {
    settle(): void {
      for (let pass = 0; pass < 40; pass++) {
        const decision = this.decide();
        this.apply(decision);
        if (decision.actions.length === 0) return;
      }
      throw new Error(`still changing: ${explain(this.decide())}`);
    }

    decide(): Decision {
      const current = this.find<VirtualMachineInstanceReplicaSet>('VirtualMachineInstanceReplicaSet');
      if (!current) return { actions: [] };
      const seen = this.vmis.filter((each) => isControlledBy(each, current) || !each.metadata.ownerReferences?.length);
      return decideReplicaSet({ set: current, vmis: seen, mayAdopt: true, now });
    }

    get vmis(): readonly VirtualMachineInstance[] {
      return this.list<VirtualMachineInstance>('VirtualMachineInstance');
    }

    get status() {
      return this.find<VirtualMachineInstanceReplicaSet>('VirtualMachineInstanceReplicaSet')?.status;
    }

    ends(object: KubeObject | undefined): void {
      if (object) this.put({ ...object, status: { phase: 'Failed' } } as KubeObject);
    }
  }

  test('it grows, shrinks, heals and takes in orphans', () => {
    const world = new Sets();
    world.put(set({ replicas: 3 }));
    world.settle();
    assert.deepEqual([world.vmis.length, world.status?.replicas], [3, 3]);
    world.edit('VirtualMachineInstanceReplicaSet', { spec: { replicas: 1 } });
    world.settle();
    for (const each of world.vmis) if (each.metadata.deletionTimestamp) world.drop(each);
    world.settle();
    assert.deepEqual([world.vmis.length, world.status?.replicas], [1, 1]);
    const [first] = world.vmis;
    world.ends(first);
    world.settle();
    assert.equal(world.vmis.filter(({ metadata }) => !metadata.deletionTimestamp).length, 1);
    world.put(vmi('Running', {}, { name: 'orphan', uid: undefined, labels, ownerReferences: [] }));
    world.settle();
    assert.equal(world.vmis.filter(({ metadata }) => !metadata.deletionTimestamp).length, 1, 'an adopted one counts');
  });
});
