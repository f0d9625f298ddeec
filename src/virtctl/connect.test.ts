import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UserError } from '../base/errors.ts';
import { machineName } from './connect.ts';

const CASES: [string[], string][] = [
  [['db'], 'db'],
  [['vm', 'db'], 'db'],
  [['VMI', 'db'], 'db'],
  [['vm/db'], 'db'],
  [['vm'], 'vm'],
];

for (const [words, expected] of CASES) {
  test(`"${words.join(' ')}" names ${expected}`, () => assert.equal(machineName('start', words), expected));
}

test('a word that is no kind is refused, with the way to say it', () => {
  assert.throws(
    () => machineName('start', ['omv', 'db']),
    (error: UserError) =>
      error instanceof UserError &&
      error.why === 'omv is not a kind of machine' &&
      error.fix === 'virtctl start db, or virtctl start vm db',
  );
});
