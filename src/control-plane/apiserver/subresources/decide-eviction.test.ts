import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../../api/core/pod.ts';
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../../api/core/pod-disruption-budget.ts';
import { decideEviction, takeOne } from './decide-eviction.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

function pod(phase: 'Running' | 'Pending' | 'Succeeded', isReady = true, metadata = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', namespace: 'default', resourceVersion: '7', labels: { app: 'web' }, ...metadata },
    spec: { containers: [] },
    status: { phase, conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  };
}

function budget(spec: Partial<PodDisruptionBudget['spec']> = {}, status: PodDisruptionBudgetStatus = {}): PodDisruptionBudget {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'web', namespace: 'default', generation: 1 },
    spec: { selector: { matchLabels: { app: 'web' } }, minAvailable: 1, ...spec },
    status: { observedGeneration: 1, desiredHealthy: 1, currentHealthy: 1, disruptionsAllowed: 0, ...status },
  };
}

const cases: [string, Pod, PodDisruptionBudget[], string][] = [
  ['a Pod that waits goes', pod('Pending'), [budget()], 'delete'],
  ['one that has ended goes', pod('Succeeded'), [budget()], 'delete'],
  ['one that is going goes on', pod('Running', true, { deletionTimestamp: '2026-01-01T00:00:00Z' }), [budget()], 'delete'],
  ['without a budget it goes', pod('Running'), [budget({ selector: { matchLabels: { app: 'db' } } })], 'delete'],
  ['no selector finds nobody', pod('Running'), [{ ...budget(), spec: { minAvailable: 1 } }], 'delete'],
  ['an empty one finds everybody', pod('Running'), [budget({ selector: {} })], 'take-one'],
  ['a ready one needs a part of the budget', pod('Running'), [budget()], 'take-one'],
  ['an unready one goes while enough are healthy', pod('Running', false), [budget()], 'delete-unchanged'],
  ['and not when they are not', pod('Running', false), [budget({}, { currentHealthy: 0 })], 'take-one'],
  [
    'unless it always may',
    pod('Running', false),
    [budget({ unhealthyPodEvictionPolicy: 'AlwaysAllow' }, { currentHealthy: 0 })],
    'delete-unchanged',
  ],
];

describe('decideEviction', () => {
  for (const [name, of, budgets, expected] of cases) test(name, () => assert.equal(decideEviction(of, budgets).do, expected));
  test('two budgets for one Pod are an error', () =>
    assert.throws(() => decideEviction(pod('Running'), [budget(), budget()]), { reason: 'InternalError', message: /more than one/ }));
});

test('a budget gives what it has, and says what it needs when it has nothing', () => {
  const status = takeOne(budget({}, { disruptionsAllowed: 2, disruptedPods: { b: '2025-12-31T23:59:59Z' } }), 'a', NOW);
  assert.equal(status.disruptionsAllowed, 1);
  assert.deepEqual(status.disruptedPods, { b: '2025-12-31T23:59:59Z', a: '2026-01-01T00:00:00Z' });
  const message = 'The disruption budget web needs 1 healthy pods and has 1 currently';
  assert.throws(() => takeOne(budget(), 'a', NOW), {
    reason: 'TooManyRequests',
    details: { causes: [{ reason: 'DisruptionBudget', message, field: '' }] },
  });
});

test('a budget that was not counted yet gives nothing', () => {
  const uncounted = budget({}, { observedGeneration: 0, disruptionsAllowed: 5 });
  assert.throws(
    () => takeOne(uncounted, 'a', NOW),
    (error: { details?: { retryAfterSeconds?: number } }) => error.details?.retryAfterSeconds === 10,
  );
});

test('grants that nobody confirms come to an end', () => {
  const disruptedPods = Object.fromEntries(Array.from({ length: 2001 }, (_, at) => [`p${at}`, '2026-01-01T00:00:00Z']));
  assert.throws(() => takeOne(budget({}, { disruptionsAllowed: 1, disruptedPods }), 'a', NOW), { reason: 'Forbidden' });
});
