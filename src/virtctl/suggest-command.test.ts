import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMANDS } from './generated/commands.ts';
import { unknownCommand } from './suggest-command.ts';

const NAMES = COMMANDS.filter(({ words }) => words.length === 1).map(({ words }) => words.join(' '));
const fixOf = (said: string) => unknownCommand(said, NAMES).split('\nfix: ')[1];

const CASES: [said: string, fix: string][] = [
  ['strat', 'did you mean start?'],
  ['stopp', 'did you mean stop?'],
  ['log', 'did you mean logs?'],
  ['port-froward', 'did you mean port-forward?'],
  ['unistall', 'did you mean uninstall?'],
  ['delet', 'did you mean delete?'],
  ['select', 'virtctl --help lists all commands'],
  ['present', 'virtctl --help lists all commands'],
  ['shel', 'did you mean shell?'],
  ['login', 'virtctl shell NAME, or virtctl console NAME'],
  ['foo', 'virtctl --help lists all commands'],
  ['constructor', 'virtctl --help lists all commands'],
];
for (const [said, fix] of CASES) test(`${said}: ${fix}`, () => assert.equal(fixOf(said), fix));

test('no word of another tool is a command here', () => {
  for (const name of NAMES) assert.match(fixOf(name) ?? '', /^did you mean /);
});
