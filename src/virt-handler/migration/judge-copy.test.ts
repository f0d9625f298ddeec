import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Copy, followCopy, judgeCopy } from './judge-copy.ts';

const copy: Copy = { elapsedMs: 0, limitMs: 1_000, left: 100, nearerAtMs: 0, isStandingStill: false };
const strict = { progressMs: 500, mayStandStill: false };
const lenient = { ...strict, mayStandStill: true };

test('a copy that comes nearer to its end is waited for, until its time is over', () => {
  const nearer = followCopy(copy, { left: 90, elapsedMs: 900 });
  assert.equal(judgeCopy(nearer, strict), 'wait');
  assert.equal(judgeCopy(followCopy(nearer, { left: 80, elapsedMs: 1_000 }), strict), 'too long');
});

test('one that does not is given up', () => {
  assert.equal(judgeCopy(followCopy(copy, { left: 100, elapsedMs: 499 }), strict), 'wait');
  assert.equal(judgeCopy(followCopy(copy, { left: 100, elapsedMs: 500 }), strict), 'stuck');
});

test('a guest that writes makes more to copy, and that is copied, too', () => {
  const again = followCopy(followCopy(copy, { left: 300, elapsedMs: 300 }), { left: 290, elapsedMs: 400 });
  assert.deepEqual([again.nearerAtMs, judgeCopy({ ...again, elapsedMs: 899 }, strict)], [400, 'wait']);
});

test('a guest that may stand still does when the time is over, and has as much again', () => {
  const late = followCopy({ ...copy, nearerAtMs: 900 }, { left: 100, elapsedMs: 1_000 });
  assert.equal(judgeCopy(late, lenient), 'stand still');
  const still = { ...late, isStandingStill: true };
  assert.equal(judgeCopy(still, lenient), 'wait');
  assert.equal(judgeCopy({ ...still, elapsedMs: 2_000 }, lenient), 'too long');
});
