import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../../api/core/pod-disruption-budget.ts';
import type { ReplicaSet } from '../../../api/core/replica-set.ts';
import { mergePatch } from '../../../base/json.ts';
import { deleting, labels, meta, NOW, podOf, said, template } from '../builders.testing.ts';
import { decideBudget } from './decide.ts';
import type { ObservedBudget } from './observed.ts';

const set: ReplicaSet = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: meta('web'),
  spec: { replicas: 4, selector: { matchLabels: labels }, template: template() },
};
const scales = new Map([['uid-web', { uid: 'uid-web', replicas: 4 }]]);
const ready = ['a', 'b', 'c', 'd'].map((name) => podOf(set, name));

function budget(spec: PodDisruptionBudget['spec'], status?: PodDisruptionBudgetStatus, metadata = {}): PodDisruptionBudget {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: meta('web', metadata),
    spec: { selector: { matchLabels: labels }, ...spec },
    ...(status && { status }),
  };
}

function observed(part: Partial<ObservedBudget>): ObservedBudget {
  return { budget: budget({ minAvailable: 1 }), pods: ready, scales, now: NOW, ...part };
}

/** [allowed, healthy, desired, expected, reason] */
function counted(part: Partial<ObservedBudget>): unknown[] {
  const [action] = decideBudget(observed(part)).actions;
  const { status } = (action?.do === 'patch' ? action.patch : {}) as { status: PodDisruptionBudgetStatus };
  return [
    status.disruptionsAllowed,
    status.currentHealthy,
    status.desiredHealthy,
    status.expectedPods,
    status.conditions?.map(({ reason }) => reason).join(),
  ];
}

const cases: [string, Partial<ObservedBudget>, unknown[]][] = [
  ['a number has to be healthy', { budget: budget({ minAvailable: 3 }) }, [1, 4, 3, 4, 'SufficientPods']],
  ['not more than there are', { budget: budget({ minAvailable: 4 }) }, [0, 4, 4, 4, 'InsufficientPods']],
  [
    'a share of what is wanted, rounded up',
    { budget: budget({ minAvailable: '30%' }), pods: ready.slice(0, 3) },
    [1, 3, 2, 4, 'SufficientPods'],
  ],
  [
    'what may be missing, of what is wanted',
    { budget: budget({ maxUnavailable: 1 }), pods: ready.slice(0, 3) },
    [0, 3, 3, 4, 'InsufficientPods'],
  ],
  ['all may be missing', { budget: budget({ maxUnavailable: '100%' }) }, [4, 4, 0, 4, 'SufficientPods']],
  [
    'whoever is not ready does not count',
    { budget: budget({ minAvailable: 1 }), pods: [podOf(set, 'a'), podOf(set, 'b', 'unready')] },
    [0, 1, 1, 2, 'InsufficientPods'],
  ],
  [
    'nor whoever is going',
    { budget: budget({ minAvailable: 1 }), pods: [podOf(set, 'a'), podOf(set, 'b', 'ready', deleting)] },
    [0, 1, 1, 2, 'InsufficientPods'],
  ],
  ['of no Pods none may go', { budget: budget({ minAvailable: 0 }), pods: [] }, [0, 0, 0, 0, 'InsufficientPods']],
  [
    'without a number of replicas a share is unknown',
    { budget: budget({ maxUnavailable: 1 }), scales: new Map() },
    [0, 4, 0, 0, 'SyncFailed'],
  ],
  ['but a number is not', { budget: budget({ minAvailable: 1 }), scales: new Map() }, [3, 4, 1, 4, 'SufficientPods']],
];

describe('decideBudget', () => {
  for (const [name, part, expected] of cases) test(name, () => assert.deepEqual(counted(part), expected));
});

test('what is said is not said again, and nothing of a budget that goes', () => {
  const before = budget({ minAvailable: 3 });
  const [action] = decideBudget(observed({ budget: before })).actions;
  const after = mergePatch(before, action?.do === 'patch' ? action.patch : {}) as PodDisruptionBudget; // its status was added
  assert.deepEqual(said(decideBudget(observed({ budget: after }))), []);
  assert.deepEqual(said(decideBudget(observed({ budget: budget({ minAvailable: 3 }, undefined, deleting) }))), []);
});

test('a granted eviction counts as done for two minutes, then it has lapsed', () => {
  const granted = budget({ minAvailable: 3 }, { disruptedPods: { a: '2026-01-01T00:00:00Z', gone: '2026-01-01T00:00:00Z' } });
  assert.deepEqual(counted({ budget: granted }), [0, 3, 3, 4, 'InsufficientPods']);
  assert.equal(decideBudget(observed({ budget: granted, now: NOW + 20_000 })).lookAgainAfterMs, 100_000);
  assert.deepEqual(counted({ budget: granted, now: NOW + 120_000 }), [1, 4, 3, 4, 'SufficientPods']);
});
