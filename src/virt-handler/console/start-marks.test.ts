import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StartMarks } from './start-marks.ts';

const marksOf = (...pieces: readonly (readonly [text: string, atMs: number])[]) => {
  const marks = new StartMarks();
  for (const [text, atMs] of pieces) marks.see(Buffer.from(text), atMs);
  return marks.start;
};

test('the first output and the first prompt are the times that are kept', () => {
  assert.deepEqual(marksOf(), {});
  assert.deepEqual(marksOf(['', 1], ['SeaBIOS', 2], ['Linux', 3]), { printedAtMs: 2 });
  assert.deepEqual(marksOf(['SeaBIOS', 2], ['tiny login: ', 5], ['tiny login: ', 9]), { printedAtMs: 2, loginAtMs: 5 });
});

test('a prompt that comes byte by byte is one', () => {
  assert.deepEqual(marksOf(...[...'a login: '].map((letter, index) => [letter, index] as const)), { printedAtMs: 0, loginAtMs: 7 });
});

test('a guest that prints for ever is not read for ever', () => {
  const marks = new StartMarks();
  for (let i = 0; i < 10; i++) marks.see(Buffer.alloc(2 ** 20), 1);
  marks.see(Buffer.from('login:'), 2);
  assert.deepEqual(marks.start, { printedAtMs: 1 });
});
