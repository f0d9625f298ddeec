import assert from 'node:assert/strict';
import { test } from 'node:test';
import { invalidCause } from './causes.ts';

test('a value is shown as it is', () => {
  assert.equal(invalidCause('spec.a', 'b', 'no').message, 'Invalid value: "b": no');
  assert.equal(invalidCause('spec.a', { b: 1 }, 'no').message, 'Invalid value: {"b":1}: no');
});

for (const value of ['x'.repeat(3_000_000), Array.from({ length: 100_000 }, () => 'x')])
  test(`one that nobody would read to its end, ${Array.isArray(value) ? 'a list' : 'a text'}, is cut, and its size said`, () => {
    const { message } = invalidCause('spec.a', value, 'no');
    assert.ok(message.length < 1_100);
    assert.match(message, /\.\.\. \(\d+ characters\)"?: no$/);
  });
