import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LruCache } from './lru-cache.ts';

/** A cache of numbers, and a list of those that had to be made. */
function recorded(limit: number) {
  const recent = new LruCache<number, string>(limit);
  const made: number[] = [];
  const get = (key: number, weight = 1) =>
    recent.get(key, weight, () => {
      made.push(key);
      return `value ${key}`;
    });
  return { get, made };
}

test('a value is made once while it is remembered', () => {
  const { get, made } = recorded(10);
  assert.deepEqual([get(1), get(1), made], ['value 1', 'value 1', [1]]);
});

test('what is used all the time stays, however much passes by', () => {
  const { get, made } = recorded(10);
  for (let key = 100; key < 200; key += 1) {
    get(1);
    get(key);
  }
  assert.equal(made.filter((key) => key === 1).length, 1);
});

test('no more than twice the limit is remembered', () => {
  const { get, made } = recorded(10);
  for (let key = 0; key < 100; key += 1) get(key);
  made.length = 0;
  for (let key = 99; key >= 0; key -= 1) get(key);
  assert.ok(made.length >= 80, `${made.length} of 100 were made again`);
});

test('one value above the limit pushes the others out and is remembered', () => {
  const { get, made } = recorded(10);
  get(1);
  get(2, 50);
  get(2, 50);
  assert.deepEqual(made, [1, 2]);
});
