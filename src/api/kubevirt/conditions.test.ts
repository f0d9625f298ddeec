import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Condition } from '../meta.ts';
import { withCondition, withoutCondition } from './conditions.ts';

type Conditions = { readonly Failure: string; readonly Paused: never; readonly Ready: never };

const then = '2026-01-01T00:00:00Z';
const now = Date.parse('2026-01-01T00:01:00Z');
const later = '2026-01-01T00:01:00Z';
const failure: Condition = { type: 'Failure', status: 'True', reason: 'FailedCreate', message: 'no room', lastTransitionTime: then };
const paused: Condition = { type: 'Paused', status: 'True', lastTransitionTime: then };
const list = [failure, paused];

describe('withCondition', () => {
  const failed = (said: { readonly reason?: string; readonly message?: string }) =>
    withCondition<Conditions>(list, { type: 'Failure', status: 'True', reason: 'FailedCreate', ...said }, now);

  test('what says the same is the same list', () => {
    assert.equal(failed({ message: 'no room' }), list);
    assert.equal(withCondition<Conditions>(list, { type: 'Paused', status: 'True', message: '' }, now), list);
  });

  test('a new message is told, and is no transition', () => {
    assert.deepEqual(failed({ message: 'no rights' }), [{ ...failure, message: 'no rights' }, paused]);
  });

  test('a message that is gone goes', () => {
    const { message, ...rest } = failure;
    assert.deepEqual(failed({}), [rest, paused]);
  });

  test('a new status or reason is a transition', () => {
    const said = { type: 'Failure', status: 'False', reason: 'Created', message: 'done' } as const;
    assert.deepEqual(withCondition<Conditions>(list, said, now), [{ ...said, lastTransitionTime: later }, paused]);
    assert.deepEqual(failed({ reason: 'FailedDelete', message: 'no room' })[0], {
      ...failure,
      reason: 'FailedDelete',
      lastTransitionTime: later,
    });
  });

  test('a null of somebody else does not stay: a list that never equals what was written would be written for ever', () => {
    const foreign = [{ ...failure, lastProbeTime: null, lastTransitionTime: null }];
    const said = { type: 'Failure', status: 'True', reason: 'FailedCreate', message: 'no rights' } as const;
    assert.deepEqual(withCondition<Conditions>(foreign, said, now), [{ ...said, lastTransitionTime: later }]);
  });
});

describe('withoutCondition', () => {
  test('removes it', () => assert.deepEqual(withoutCondition<Conditions>(list, 'Failure'), [paused]));
  test('is the same list where there is none', () => assert.equal(withoutCondition<Conditions>(list, 'Ready'), list));
});
