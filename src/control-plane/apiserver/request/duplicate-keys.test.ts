import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { duplicateKeys } from './duplicate-keys.ts';

test('a key that is there twice is named by its path, once', () => {
  const text = '{"a": 1, "b": {"c": [], "c": "x", "c": 2}, "list": [{}, {"d": 1, "d": 2}], "a": {"c": 1}}';
  assert.deepEqual(duplicateKeys(text), ['b.c', 'list[1].d', 'a']);
});

test('a key is the same however it is written', () => {
  assert.deepEqual(duplicateKeys('{"size":1,"\\u0073ize":2}'), ['size']);
});

test('texts that look like keys and brackets are only texts', () => {
  assert.deepEqual(duplicateKeys('{"a":"{\\"a\\":1,","b":"]}\\\\","c":[true,null,-1.5e3]}'), []);
});

test('what JSON.stringify writes has no duplicates', () => {
  fc.assert(fc.property(fc.json(), (text) => assert.deepEqual(duplicateKeys(text), [])));
});
