import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AddressPool } from './address-pool.ts';

test('every owner has one address, and it is its own', () => {
  const pool = new AddressPool('10.244.0.0/16');
  assert.deepEqual([pool.take('a'), pool.take('b'), pool.take('a')], ['10.244.0.2', '10.244.0.3', '10.244.0.2']);
});

test('a preferred address is given when it is free and in the range', () => {
  const pool = new AddressPool('10.244.0.0/16');
  assert.equal(pool.take('a', '10.244.7.7'), '10.244.7.7');
  assert.equal(pool.take('b', '10.244.7.7'), '10.244.0.2');
  assert.equal(pool.take('c', '10.1.1.1'), '10.244.0.3');
  assert.equal(pool.take('d', 'garbage'), '10.244.0.4');
});

test('a freed address comes back last, and a full range is an error', () => {
  const pool = new AddressPool('10.0.0.0/29');
  for (const owner of ['a', 'b', 'c', 'd', 'e']) pool.take(owner);
  assert.throws(() => pool.take('f'), { reason: 'TooManyRequests' });
  pool.release('b');
  assert.equal(pool.take('f'), '10.0.0.3');
});
