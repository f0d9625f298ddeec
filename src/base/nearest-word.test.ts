import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearestWord } from './nearest-word.ts';

const CASES: readonly [word: string, words: readonly string[], meant: string | undefined][] = [
  ['mypcv', ['rootdisk', 'mypvc'], 'mypvc'],
  ['MyDisk', ['mydisk'], 'mydisk'],
  ['a', ['b'], 'b'],
  ['root', ['cloudinit'], undefined],
  ['root', [], undefined],
  ['', ['x'], 'x'],
];
for (const [word, words, meant] of CASES) {
  test(`${JSON.stringify(word)} among ${JSON.stringify(words)} is ${meant ?? 'nothing'}`, () => {
    assert.equal(nearestWord(word, words), meant);
  });
}
