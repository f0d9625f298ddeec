import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Probe } from './pod.ts';
import { afterAnswer, dueAtMs, NEVER_ASKED, PROBE_KINDS, type ProbeState, probeOf, timeoutMsOf } from './probe-state.ts';

const probe: Probe = { httpGet: { port: 80 } };

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
  assert.equal(dueAtMs({ ...probe, periodSeconds: 0 }, { inARow: 1, askedAtMs: 0 }, 0), 10_000);
});

test('the first question waits for the initial delay, the next ones for the period', () => {
  const slow = { ...probe, initialDelaySeconds: 5, periodSeconds: 2 };
  assert.deepEqual([dueAtMs(slow, NEVER_ASKED, 1000), dueAtMs(slow, { inARow: 1, askedAtMs: 6_000 }, 1000)], [6_000, 8_000]);
});

test('a probe by a program is ours only where programs can be started', () => {
  const container = { name: 'main', readinessProbe: { exec: { command: ['true'] } }, livenessProbe: probe };
  const asked = (canExec: boolean) => PROBE_KINDS.map((kind) => probeOf(container, kind, canExec));
  assert.deepEqual(asked(false), [undefined, probe, undefined]);
  assert.deepEqual(asked(true), [undefined, probe, container.readinessProbe]);
});
