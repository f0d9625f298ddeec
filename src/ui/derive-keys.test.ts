import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deriveKey, type KeyEffect } from './derive-keys.ts';
import type { Place } from './derive-place.ts';

const TABLE: readonly (readonly [key: string, page: Place['page'], before: string | undefined, effect: KeyEffect | undefined])[] = [
  ['c', 'nodes', undefined, { go: { page: 'create' } }],
  ['/', 'machines', undefined, { focus: 'filter' }],
  ['g', 'machine', undefined, { await: 'g' }],
  ['i', 'machine', 'g', { go: { page: 'images' } }],
  ['c', 'machine', 'g', undefined],
  ['j', 'machines', undefined, { move: 1 }],
  ['j', 'machine', undefined, undefined],
  ['x', 'machines', undefined, { select: true }],
  ['s', 'machine', undefined, { action: 'start' }],
  ['S', 'machines', undefined, { action: 'stop' }],
  ['s', 'create', undefined, undefined],
  ['toString', 'machines', undefined, undefined],
];

test('a key does what it stands for, where that makes sense', () => {
  for (const [key, page, before, effect] of TABLE)
    assert.deepEqual(deriveKey(key, { page, before }), effect, `${before ?? ''} ${key} at ${page}`);
});
