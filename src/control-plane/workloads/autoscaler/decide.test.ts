import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { HorizontalPodAutoscaler } from '../../../api/core/horizontal-pod-autoscaler.ts';
import { deleting, meta } from '../builders.testing.ts';
import { autoscaler, CPU_50, measuredPod, observedAutoscaler, usage } from './builders.testing.ts';
import { decideAutoscaler, type ScaleAction } from './decide.ts';
import type { ObservedAutoscaler } from './observed.ts';

/** The new number of replicas, when there is one, and the conditions. */
function outcome(observed: ObservedAutoscaler) {
  const { actions, lookAgainAfterMs } = decideAutoscaler(observed);
  const scaled = actions.find((action): action is ScaleAction => action.do === 'scale');
  const patch = actions.find((action) => action.do === 'patch');
  const status = patch?.do === 'patch' ? (patch.patch as { status: NonNullable<HorizontalPodAutoscaler['status']> }).status : undefined;
  const conditions = Object.fromEntries((status?.conditions ?? []).map(({ type, status: is, reason }) => [type, `${is} ${reason}`]));
  return { to: scaled?.replicas, conditions, status, message: scaled?.event.message, lookAgainAfterMs, patch };
}

const at = (steadySecondsAgo: number, replicas: number) => ({ replicas, atMs: 1_000_000 - steadySecondsAgo * 1000 });
const by = (secondsAgo: number, change: number) => ({ by: change, atMs: 1_000_000 - secondsAgo * 1000 });
const past = (recommendations: ReturnType<typeof at>[], changes: ReturnType<typeof by>[] = []) => ({ past: { recommendations, changes } });
const MEMORY = (averageValue: string) => ({
  type: 'Resource',
  resource: { name: 'memory', target: { type: 'AverageValue', averageValue } },
});
const [p0, p1, pending] = [measuredPod('p0'), measuredPod('p1'), measuredPod('p1', 'pending')];

const CASES: readonly [title: string, observed: ObservedAutoscaler, to: number | undefined][] = [
  ['twice the target is twice as many', observedAutoscaler([1, 1]), 4],
  ['half of it is half as many', observedAutoscaler([0.25, 0.25]), 1],
  ['what is within a tenth of the target stays', observedAutoscaler([0.54, 0.54]), undefined],
  [
    'a tolerance of its own',
    observedAutoscaler([0.54, 0.54], { autoscaler: autoscaler({ behavior: { scaleUp: { tolerance: '0.05' } } }) }),
    3,
  ],
  ['never more than maxReplicas', observedAutoscaler([1, 1], { autoscaler: autoscaler({ maxReplicas: 3 }) }), 3],
  ['never fewer than minReplicas', observedAutoscaler([0, 0, 0], { autoscaler: autoscaler({ minReplicas: 2 }) }), 2],
  [
    'more than maxReplicas are taken away whatever they use',
    observedAutoscaler([1, 1, 1], { autoscaler: autoscaler({ maxReplicas: 2 }) }),
    2,
  ],
  ['fewer than minReplicas are made whatever they use', observedAutoscaler([0], { autoscaler: autoscaler({ minReplicas: 2 }) }), 2],
  ['one that nobody has measured keeps the others from going', observedAutoscaler([0.1, undefined]), undefined],
  ['and counts for nothing when more are wanted', observedAutoscaler([1.5, undefined]), 3],
  ['one that is not there yet counts for nothing when more are wanted', observedAutoscaler([1.5, undefined], { pods: [p0, pending] }), 3],
  ['no more than four or twice as many at once', observedAutoscaler([20, 20], { autoscaler: autoscaler({ maxReplicas: 100 }) }), 6],
  [
    'and those of the last 15 seconds count',
    observedAutoscaler([20, 20], { autoscaler: autoscaler({ maxReplicas: 100 }), ...past([], [by(10, 1)]) }),
    5,
  ],
  ['what was wanted in the last five minutes is not taken away', observedAutoscaler([0, 0, 0], past([at(200, 3)])), undefined],
  ['what was wanted before is', observedAutoscaler([0, 0, 0], past([at(301, 3)])), 1],
  [
    'a window upwards',
    observedAutoscaler([1, 1], {
      autoscaler: autoscaler({ behavior: { scaleUp: { stabilizationWindowSeconds: 60 } } }),
      ...past([at(30, 2)]),
    }),
    undefined,
  ],
  [
    'downwards one Pod a minute',
    observedAutoscaler([0, 0, 0, 0], {
      autoscaler: autoscaler({ behavior: { scaleDown: { policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }] } } }),
    }),
    3,
  ],
  [
    'downwards not at all',
    observedAutoscaler([0, 0, 0, 0], { autoscaler: autoscaler({ behavior: { scaleDown: { selectPolicy: 'Disabled' } } }) }),
    undefined,
  ],
  [
    'memory by its value',
    observedAutoscaler([], {
      autoscaler: autoscaler({ metrics: [MEMORY('100Mi')] }),
      scale: { path: '/scale', specReplicas: 2, statusReplicas: 2, selector: 'app=web' },
      pods: [p0, p1],
      usages: new Map([
        ['p0', usage(0, 200 * 2 ** 20)],
        ['p1', usage(0, 100 * 2 ** 20)],
      ]),
    }),
    3,
  ],
  ['the metric that wants most counts', observedAutoscaler([1, 1], { autoscaler: autoscaler({ metrics: [MEMORY('1Gi'), CPU_50] }) }), 4],
];

describe('an autoscaler', () => {
  for (const [title, observed, to] of CASES) test(title, () => assert.equal(outcome(observed).to, to));

  test('says how large the target became, and why', () => {
    const { message, conditions, status, lookAgainAfterMs } = outcome(observedAutoscaler([1, 1]));
    assert.equal(message, 'New size: 4; reason: cpu resource utilization (percentage of request) above target');
    assert.deepEqual(conditions, {
      AbleToScale: 'True SucceededRescale',
      ScalingActive: 'True ValidMetricFound',
      ScalingLimited: 'False DesiredWithinRange',
    });
    assert.deepEqual([status?.currentReplicas, status?.desiredReplicas, lookAgainAfterMs], [2, 4, 15_000]);
    assert.deepEqual(status?.currentMetrics, [
      { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 100, averageValue: '1' } } },
    ]);
  });

  test('writes nothing where nothing has changed', () => {
    const first = observedAutoscaler([0.5, 0.5]);
    const status = outcome(first).status;
    assert.equal(outcome({ ...first, autoscaler: autoscaler({}, status) }).patch, undefined);
  });

  const LIMITS: readonly [title: string, observed: ObservedAutoscaler, conditions: Record<string, string>][] = [
    [
      'held by the maximum',
      observedAutoscaler([1, 1], { autoscaler: autoscaler({ maxReplicas: 3 }) }),
      { ScalingLimited: 'True TooManyReplicas' },
    ],
    [
      'held by the minimum',
      observedAutoscaler([0, 0, 0], { autoscaler: autoscaler({ minReplicas: 2 }) }),
      { ScalingLimited: 'True TooFewReplicas' },
    ],
    [
      'held by its rate',
      observedAutoscaler([20, 20], { autoscaler: autoscaler({ maxReplicas: 100 }) }),
      { ScalingLimited: 'True ScaleUpLimit' },
    ],
    ['held by its window', observedAutoscaler([0, 0, 0], past([at(200, 3)])), { AbleToScale: 'True ScaleDownStabilized' }],
    ['of the right size', observedAutoscaler([0.5]), { AbleToScale: 'True ReadyForNewScale' }],
    ['a target that is not there', observedAutoscaler([1], { scale: { error: 'not found' } }), { AbleToScale: 'False FailedGetScale' }],
    [
      'a target that somebody has scaled to 0',
      observedAutoscaler([], { scale: { path: '/scale', specReplicas: 0, statusReplicas: 0, selector: 'a=b' } }),
      { ScalingActive: 'False ScalingDisabled' },
    ],
    ['nobody measures', observedAutoscaler([1], { usages: { error: 'no metrics' } }), { ScalingActive: 'False FailedGetResourceMetric' }],
    [
      'Pods without a request',
      observedAutoscaler([1], { pods: [{ ...p0, spec: { containers: [{ name: 'main' }] } }] }),
      { ScalingActive: 'False FailedGetResourceMetric' },
    ],
    [
      'a metric of others',
      observedAutoscaler([1], { autoscaler: autoscaler({ metrics: [{ type: 'External' }] }) }),
      { ScalingActive: 'False InvalidMetricSourceType' },
    ],
  ];
  for (const [title, observed, conditions] of LIMITS)
    test(`says why: ${title}`, () => {
      const said = outcome(observed).conditions;
      assert.deepEqual(Object.fromEntries(Object.keys(conditions).map((type) => [type, said[type]])), conditions);
    });

  test('of which one metric fails takes nothing away, and gives', () => {
    const failing = { type: 'External' };
    assert.equal(outcome(observedAutoscaler([0, 0], { autoscaler: autoscaler({ metrics: [failing, CPU_50] }) })).to, undefined);
    assert.equal(outcome(observedAutoscaler([1, 1], { autoscaler: autoscaler({ metrics: [failing, CPU_50] }) })).to, 4);
  });

  test('that is being deleted does nothing', () => {
    const going = { ...autoscaler(), metadata: meta('web', deleting) };
    assert.deepEqual(decideAutoscaler(observedAutoscaler([1], { autoscaler: going })), { actions: [] });
  });
});
