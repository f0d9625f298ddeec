import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../testing/fake-clock.ts';
import { createSessions, makeLinkToken } from './sessions.ts';

const KEY = 'a key';
const KEYS = { link: KEY, session: 'another key' };

test('a link makes one session, once', () => {
  const clock = new FakeClock();
  const sessions = createSessions(KEYS, clock);
  const token = makeLinkToken(KEY, clock);
  const session = sessions.enter(token);
  assert.ok(session && sessions.has(session));
  assert.equal(sessions.enter(token), undefined);
  assert.equal(sessions.has(`${session}x`), false);
});

test('a link is worth nothing after ten minutes, a session after twelve hours', async () => {
  const clock = new FakeClock();
  const sessions = createSessions(KEYS, clock);
  const [early, late] = [makeLinkToken(KEY, clock), makeLinkToken(KEY, clock)];
  const session = sessions.enter(early) ?? '';
  await clock.advance(10 * 60_000 + 1);
  assert.equal(sessions.enter(late), undefined);
  assert.equal(sessions.has(session), true);
  await clock.advance(12 * 60 * 60_000);
  assert.equal(sessions.has(session), false);
});

for (const [what, forge] of [
  ['of another key', (clock: FakeClock) => makeLinkToken('another', clock)],
  ['with a later end', (clock: FakeClock) => makeLinkToken(KEY, clock).replace(/^\d+/, '99999999999999')],
  ['without a signature', (clock: FakeClock) => makeLinkToken(KEY, clock).replace(/\.[^.]*$/, '.')],
  ['that is no link at all', () => 'x'.repeat(100_000)],
  ['that is empty', () => ''],
] as const) {
  test(`a link ${what} lets nobody in`, () => {
    const clock = new FakeClock();
    assert.equal(createSessions(KEYS, clock).enter(forge(clock)), undefined);
  });
}

test('a server that was started again knows its browsers, and no link from before', () => {
  const clock = new FakeClock();
  const [token, unused] = [makeLinkToken(KEY, clock), makeLinkToken(KEY, clock)];
  const session = createSessions(KEYS, clock).enter(token) ?? '';
  const again = createSessions({ ...KEYS, link: 'a third' }, clock);
  assert.equal(again.has(session), true);
  assert.equal(again.cookieName, createSessions(KEYS, clock).cookieName);
  assert.notEqual(again.cookieName, createSessions({ ...KEYS, session: 'of another server' }, clock).cookieName);
  assert.deepEqual([again.enter(token), again.enter(unused)], [undefined, undefined]);
});

test('a link is no session, and a session no link', () => {
  const clock = new FakeClock();
  const sessions = createSessions(KEYS, clock);
  assert.equal(sessions.has(makeLinkToken(KEY, clock)), false);
  assert.equal(sessions.enter(sessions.enter(makeLinkToken(KEY, clock)) ?? ''), undefined);
});
