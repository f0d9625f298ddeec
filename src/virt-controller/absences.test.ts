import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rememberAbsences } from './absences.ts';

test('what was there and is not is gone since the first look that missed it', () => {
  const absences = rememberAbsences();
  assert.equal(absences.since('a', true, 1), undefined);
  assert.equal(absences.since('a', false, 2), 2);
  assert.equal(absences.since('a', false, 3), 2);
  assert.equal(absences.since('a', true, 4), undefined);
  assert.equal(absences.since('a', false, 5), 5);
});

test('what was never seen, or is forgotten, is not gone', () => {
  const absences = rememberAbsences();
  assert.equal(absences.since('a', false, 1), undefined);
  absences.since('a', true, 2);
  absences.forget('a');
  assert.equal(absences.since('a', false, 3), undefined);
});
