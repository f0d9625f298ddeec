import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../testing/fake-clock.ts';
import { createTokenSessions } from './token-sessions.ts';

const open = (sessions: ReturnType<typeof createTokenSessions>, user: string, token = `token of ${user}`) =>
  sessions.open({ user, token }) ?? assert.fail('there is a place');

test('each session has the token that it was opened with, until it is closed or twelve hours old', async () => {
  const clock = new FakeClock();
  const sessions = createTokenSessions(clock);
  const [ada, bob] = [open(sessions, 'ada'), open(sessions, 'bob')];
  assert.deepEqual([ada, bob, '', `${ada}x`].map(sessions.tokenOf), ['token of ada', 'token of bob', undefined, undefined]);
  sessions.close(ada);
  assert.deepEqual([ada, bob].map(sessions.tokenOf), [undefined, 'token of bob']);
  await clock.advance(12 * 60 * 60_000);
  assert.equal(sessions.tokenOf(bob), undefined);
});

test('one person has ten at the most, and never the place of another', () => {
  const sessions = createTokenSessions(new FakeClock());
  const bob = open(sessions, 'bob');
  const ada = Array.from({ length: 11 }, () => open(sessions, 'ada'));
  assert.deepEqual(
    [bob, ada[0], ada[1], ada[10]].map((each) => sessions.tokenOf(each ?? '') !== undefined),
    [true, false, true, true],
  );
});

test('there is an end of places, and old ones are given away again', async () => {
  const clock = new FakeClock();
  const sessions = createTokenSessions(clock);
  for (let i = 0; i < 2000; i++) open(sessions, `user ${i}`);
  assert.equal(sessions.open({ user: 'late', token: 't' }), undefined);
  await clock.advance(12 * 60 * 60_000);
  assert.ok(sessions.open({ user: 'late', token: 't' }));
});

test('a token that the cluster refused ends all sessions with it', () => {
  const sessions = createTokenSessions(new FakeClock());
  const [one, two, other] = [open(sessions, 'ada'), open(sessions, 'ada'), open(sessions, 'bob')];
  sessions.drop('token of ada');
  assert.deepEqual([one, two, other].map(sessions.tokenOf), [undefined, undefined, 'token of bob']);
});
