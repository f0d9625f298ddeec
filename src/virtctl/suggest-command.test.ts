import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMANDS } from './generated/commands.ts';
import { unknownCommand } from './suggest-command.ts';

const NAMES = COMMANDS.filter(({ words }) => words.length === 1).map(({ words }) => words.join(' '));
const fixOf = (said: string) => unknownCommand(said, NAMES).split('\nfix: ')[1];

const CASES: [said: string, fix: string][] = [
  ['strat', 'did you mean start?'],
  ['log', 'did you mean logs?'],
  ['port-froward', 'did you mean port-forward?'],
  ['pasue', 'did you mean pause?'],
  ['select', 'virtctl --help lists all commands'],
  ['present', 'virtctl --help lists all commands'],
  ['shel', 'did you mean shell?'],
  ['login', 'virtctl shell NAME, or virtctl console NAME'],
  ['foo', 'virtctl --help lists all commands'],
  ['constructor', 'virtctl --help lists all commands'],
];
for (const [said, fix] of CASES) test(`${said}: ${fix}`, () => assert.equal(fixOf(said), fix));

const HARMFUL = 'delete down install removevolume reset restart restore rollback soft-reboot stop suspend uninstall upgrade'.split(' ');

test('no word, however near, leads to a command that harms', () => {
  for (const name of HARMFUL) {
    assert.ok(NAMES.includes(name), name);
    const others = [...'abcdefghijklmnopqrstuvwxyz'].map((letter) => `${name}${letter}`);
    for (const said of [...others, name.slice(0, -1), name.slice(1), name])
      assert.doesNotMatch(fixOf(said) ?? '', new RegExp(`\\b(${HARMFUL.join('|')})\\?| (${HARMFUL.join('|')}) or `), said);
  }
});

test('no word of another tool is a command here', () => {
  for (const name of NAMES.filter((each) => !HARMFUL.includes(each))) assert.match(fixOf(name) ?? '', /^did you mean /);
});
