import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepSeparator } from './keep-separator.ts';

test('a command that needs the separator gets it', () => {
  assert.deepEqual(keepSeparator(['shell', 'db', '--', 'a', '--', 'b']), ['shell', 'db', '--', '--', 'a', '--', 'b']);
  for (const words of [['shell', 'db'], ['exec', 'db', '--', 'id'], []]) assert.deepEqual(keepSeparator(words), words);
});
