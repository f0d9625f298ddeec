import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allAliases, withoutAliases } from './command-aliases-table.ts';
import { COMMANDS } from './generated/commands.ts';

const CASES: [said: string, meant: string][] = [
  ['list -A', 'ls -A'],
  ['rm web --yes', 'delete web --yes'],
  ['image ls', 'image list'],
  ['images', 'image list'],
  ['--version', 'version'],
  ['help', 'help'],
  ['help run', 'run --help'],
  ['--help run', 'run --help'],
  ['-h image ls', 'image list --help'],
  ['help images', 'image list --help'],
  ['exec web -- ls', 'exec web -- ls'],
  ['image tag ls rm', 'image tag ls rm'],
  ['', ''],
];
for (const [said, meant] of CASES)
  test(`"${said}" is "${meant}"`, () =>
    assert.deepEqual(withoutAliases(said.split(' ').filter(Boolean)), meant.split(' ').filter(Boolean)));

test('every alias means a command, and none hides one', () => {
  const commands = COMMANDS.map(({ words }) => words.join(' '));
  for (const [said, meant] of allAliases()) {
    assert.ok(commands.includes(meant.join(' ')), meant.join(' '));
    assert.ok(!commands.includes(said.join(' ')), said.join(' '));
  }
});
