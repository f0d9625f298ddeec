import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterAnswer, isDue, NEVER_ASKED, type ProbeState, probeOf, timeoutMsOf } from './probe-state.ts';

const probe = { httpGet: { port: 80 } };

function verdicts(answers: readonly boolean[], rules: object = {}): (boolean | undefined)[] {
  let state: ProbeState = NEVER_ASKED;
  return answers.map((isYes) => {
    state = afterAnswer({ ...probe, ...rules }, state, isYes);
    return state.verdict;
  });
}

test('one yes is a yes, and only three in a row are a no', () => {
  assert.deepEqual(verdicts([false, true, false, false, true, false, false, false, true]), [
    ...[undefined, true, true, true, true, true, true, false, true],
  ]);
});

test('thresholds are those of the probe', () => {
  assert.deepEqual(verdicts([true, true, false], { successThreshold: 2, failureThreshold: 1 }), [undefined, true, false]);
});

test('a zero is a default, as for Pods', () => {
  assert.deepEqual([timeoutMsOf({ ...probe, timeoutSeconds: 0 }), timeoutMsOf({ ...probe, timeoutSeconds: 4 })], [1000, 4000]);
  assert.equal(isDue({ ...probe, periodSeconds: 0 }, { inARow: 1, askedAtMs: 0 }, { startedAtMs: 0, now: 9_999 }), false);
});

test('the first question waits for the initial delay, the next ones for the period', () => {
  const slow = { ...probe, initialDelaySeconds: 5, periodSeconds: 2 };
  const due = (state: ProbeState, now: number) => isDue(slow, state, { startedAtMs: 1000, now });
  assert.deepEqual([due(NEVER_ASKED, 5_999), due(NEVER_ASKED, 6_000)], [false, true]);
  assert.deepEqual([due({ inARow: 1, askedAtMs: 6_000 }, 7_999), due({ inARow: 1, askedAtMs: 6_000 }, 8_000)], [false, true]);
});

test('a probe that is not asked over the network is not ours', () => {
  const container = { name: 'main', readinessProbe: { exec: { command: ['true'] } }, livenessProbe: probe };
  assert.deepEqual(
    [probeOf(container, 'readiness'), probeOf(container, 'liveness'), probeOf(container, 'startup')],
    [undefined, probe, undefined],
  );
});
