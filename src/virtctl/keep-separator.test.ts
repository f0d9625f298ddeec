import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepSeparator } from './keep-separator.ts';

test('a command that needs the separator gets it', () => {
  assert.deepEqual(keepSeparator(['shell', 'db', '--', 'a', '--', 'b']), ['shell', 'db', '--', '--', 'a', '--', 'b']);
  for (const words of [['shell', 'db'], ['exec', 'db', '--', 'id'], []]) assert.deepEqual(keepSeparator(words), words);
});

test('behind the machine of ssh everything is a program', () => {
  const cases = [
    ['ssh db uname -a', 'ssh db -- uname -a'],
    ['ssh -i key me@db -p 22 ls -l -- x', 'ssh -i key me@db -p 22 ls -l -- x'],
    ['ssh -i key me@db --port=22 ls -l', 'ssh -i key me@db --port=22 -- ls -l'],
    ['ssh db -- uname -a', 'ssh db -- uname -a'],
    ['ssh db -c uptime', 'ssh db -c uptime'],
    ['ssh --help', 'ssh --help'],
    ['ssh', 'ssh'],
  ];
  for (const [typed = '', given = ''] of cases) assert.deepEqual(keepSeparator(typed.split(' ')), given.split(' '));
});
