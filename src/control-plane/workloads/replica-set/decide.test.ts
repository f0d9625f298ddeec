import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../../api/core/pod.ts';
import type { ReplicaSet, ReplicaSetStatus } from '../../../api/core/replica-set.ts';
import type { ObjectMeta } from '../../../api/meta.ts';
import { deleting, labels, meta, NOW, podOf, said, template } from '../builders.testing.ts';
import { decideReplicaSet } from './decide.ts';
import type { ObservedReplicaSet } from './observed.ts';

function set(spec: Partial<ReplicaSet['spec']> = {}, status: ReplicaSetStatus = {}, metadata: Partial<ObjectMeta> = {}): ReplicaSet {
  const whole = { replicas: 2, selector: { matchLabels: labels }, template: template(), ...spec };
  return { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: meta('web', metadata), spec: whole, status };
}

const mine = (name: string, state: Parameters<typeof podOf>[2] = 'ready', metadata: Partial<ObjectMeta> = {}) =>
  podOf(set(), name, state, metadata);
const on = (pod: Pod, nodeName: string): Pod => ({ ...pod, spec: { ...pod.spec, nodeName } });

function observed(part: Partial<ObservedReplicaSet> = {}): ObservedReplicaSet {
  return { set: set(), pods: [], mayAdopt: true, taken: new Set(), now: NOW, ...part };
}

const settled: ReplicaSetStatus = { replicas: 2, fullyLabeledReplicas: 2, readyReplicas: 2, availableReplicas: 2, observedGeneration: 1 };
const STATUS = 'patch ReplicaSet status default/web:';

const cases: [string, Partial<ObservedReplicaSet>, string[]][] = [
  ['a new set makes all its Pods', {}, ['create Pod default/web-*: 0 Pods, 2 wanted', 'create Pod default/web-*: 0 Pods, 2 wanted']],
  ['an empty selector is everybody: nothing is done', { set: set({ selector: {} }) }, []],
  ['the right number: the status', { pods: [mine('a'), mine('b')] }, [`${STATUS} 2 Pods, 2 ready`]],
  ['all said: nothing', { set: set({}, settled), pods: [mine('a'), mine('b')] }, []],
  [
    'a Pod that has ended is replaced and kept',
    { set: set({ replicas: 1 }, { replicas: 1, observedGeneration: 1 }), pods: [mine('a', 'Failed')] },
    ['create Pod default/web-*: 0 Pods, 1 wanted'],
  ],
  [
    'an orphan that fits is adopted before anything is counted',
    { pods: [podOf(undefined, 'orphan'), mine('a'), mine('b')] },
    ['patch Pod default/orphan: ReplicaSet web adopts it'],
  ],
  [
    'but not by a set that may be gone',
    { mayAdopt: false, set: set({}, settled), pods: [podOf(undefined, 'orphan'), mine('a'), mine('b')] },
    [],
  ],
  [
    'a Pod whose labels no longer fit is released',
    { pods: [mine('a', 'ready', { labels: {} }), mine('b')] },
    ['patch Pod default/a: it no longer fits ReplicaSet web'],
  ],
  ['a set that is deleted makes nothing', { set: set({}, {}, deleting) }, [`${STATUS} 0 Pods, 0 ready`]],
  [
    'of too many the one without a node goes, then the unready',
    { set: set({ replicas: 1 }), pods: [mine('good'), mine('slow', 'unready'), mine('placeless', 'pending')] },
    ['delete Pod default/placeless: 3 Pods, 1 wanted', 'delete Pod default/slow: 3 Pods, 1 wanted'],
  ],
  [
    'then the cheap, then one of a crowd, then the youngest',
    {
      set: set({ replicas: 1 }),
      pods: [
        on(mine('old'), 'n2'),
        mine('crowded', 'ready', { creationTimestamp: '2025-01-01T00:00:00Z' }),
        mine('young', 'ready', { creationTimestamp: '2027-01-01T00:00:00Z' }),
        mine('cheap', 'ready', { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '-1' } }),
      ],
    },
    [
      'delete Pod default/cheap: 4 Pods, 1 wanted',
      'delete Pod default/young: 4 Pods, 1 wanted',
      'delete Pod default/crowded: 4 Pods, 1 wanted',
    ],
  ],
  [
    'a Pod that is going does not count',
    { pods: [mine('a'), mine('b', 'ready', deleting)] },
    ['create Pod default/web-*: 1 Pods, 2 wanted'],
  ],
  [
    'a refusal is told before the next try',
    { set: set({ replicas: 1 }), createError: 'no' },
    [`${STATUS} 0 Pods, 0 ready`, 'create Pod default/web-*: 0 Pods, 1 wanted'],
  ],
  [
    'ready is not yet available',
    { set: set({ minReadySeconds: 10 }), pods: [mine('a'), mine('b')], now: NOW + 4000 },
    [`${STATUS} 2 Pods, 2 ready`, 'look again in 6s'],
  ],
];

describe('decideReplicaSet', () => {
  for (const [name, part, expected] of cases) test(name, () => assert.deepEqual(said(decideReplicaSet(observed(part))), expected));
});

test('an old picture gives names that are there already, and a name that somebody has is left out', () => {
  const names = (part: Partial<ObservedReplicaSet>) =>
    decideReplicaSet(observed(part)).actions.map((action) => (action.do === 'create' ? action.object.metadata.name : ''));
  const [first = '', second = ''] = names({});
  assert.deepEqual(names({}), [first, second]);
  assert.deepEqual(names({ pods: [mine(first)] }), [second]);
  assert.equal(names({ taken: new Set([first]) }).includes(first), false);
});

test('a refusal is a condition, and goes with the next success', () => {
  const [action] = decideReplicaSet(observed({ createError: 'quota' })).actions;
  const patch = action?.do === 'patch' ? (action.patch as { status: ReplicaSetStatus }) : undefined;
  assert.deepEqual(patch?.status.conditions, [
    { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'quota', lastTransitionTime: '2026-01-01T00:00:00Z' },
  ]);
  const failed = set({}, { ...settled, ...patch?.status, ...settled });
  const after = decideReplicaSet(observed({ set: failed, pods: [mine('a'), mine('b')] })).actions[0];
  assert.deepEqual(after?.do === 'patch' && after.patch, { status: { conditions: null } });
});
