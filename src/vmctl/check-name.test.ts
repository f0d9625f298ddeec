import assert from 'node:assert/strict';
import { test } from 'node:test';
import { derivedName } from './check-name.ts';

test('the name is that of the prototype and that of the Pod', () => {
  assert.equal(derivedName('testvm', 'vmctl-7d9f-x2x4z'), 'testvm-vmctl-7d9f-x2x4z');
});

test('a host name has 63 characters, a name 253', () => {
  assert.equal(derivedName('a'.repeat(31), 'b'.repeat(31)).length, 63);
  assert.throws(() => derivedName('a'.repeat(32), 'b'.repeat(31)), { code: 'NAME_TOO_LONG', why: /64 characters, of 63/ });
  assert.equal(derivedName('a', `b.${'c'.repeat(249)}`).length, 253);
  assert.throws(() => derivedName('a', `b.${'c'.repeat(250)}`), { code: 'NAME_TOO_LONG', why: /254 characters/ });
});

test('what no object can be called is refused', () => {
  assert.throws(() => derivedName('testvm', 'My Laptop'), { code: 'NAME_INVALID' });
});
