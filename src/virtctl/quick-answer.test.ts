import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildVirtctl } from './app.ts';
import { propose } from './complete/propose.ts';
import type { Context } from './context.ts';
import { HELP_GROUPS } from './define-command.ts';
import { COMMANDS } from './generated/commands.ts';
import { quickAnswer } from './quick-answer.ts';

for (const partial of ['', 's', 'st', 'start', 'port-', 'nothing', '-', '--help'])
  test(`the commands for ${JSON.stringify(partial)} are those of the table`, async () => {
    assert.equal(quickAnswer(['__complete', partial]), await propose(await buildVirtctl(), [partial], {} as Context));
  });

for (const words of [['--help', 'start'], ['start', '--help'], ['start'], ['__complete', 'start', '']])
  test(`${JSON.stringify(words)} takes the table`, () => assert.equal(quickAnswer(words), undefined));

for (const words of [[], ['--help'], ['-h'], ['help']])
  test(`${JSON.stringify(words)} is the first page`, () => {
    const page = quickAnswer(words) ?? '';
    assert.match(page, /^Virtual machines as .*\n\nUSAGE\n {2}virtctl COMMAND \.\.\.\n/);
    for (const title of Object.values(HELP_GROUPS)) assert.ok(page.includes(`\n\n${title.toUpperCase()}\n  `), title);
  });

test('every command is on the first page once, in its group', () => {
  const page = quickAnswer([]) ?? '';
  for (const { words } of COMMANDS.filter(({ words: { length } }) => length === 1))
    assert.equal(page.split(`\n  ${words[0]} `).length, 2, words[0]);
});

test('a plugin of kubectl says its own name', () => {
  assert.match(quickAnswer(['--help'], 'kubectl virt') ?? '', /\n {2}kubectl virt COMMAND --help\n/);
});
