import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Application, type CommandContext, generateHelpTextForAllCommands } from '@stricli/core';
import { buildVirtctl } from './app.ts';
import { foldHelp } from './fold-help.ts';
import { quickAnswer } from './quick-answer.ts';

const textsOf = async (columns?: number) =>
  // No command is run, so none asks for more of its context.
  new Map(generateHelpTextForAllCommands((await buildVirtctl({ columns })) as unknown as Application<CommandContext>));
const [whole, narrow] = [await textsOf(), await textsOf(80)];
const wordsOf = (text: string) => text.split(/\s+/).filter((word) => word !== '\\');

for (const [route, help] of narrow) {
  test(`the help of "${route}" fits a terminal of 80 columns and says the same`, () => {
    const tooWide = help.split('\n').filter((line) => line.length > 80 && line.trim().includes(' '));
    assert.deepEqual([tooWide, wordsOf(help)], [[], wordsOf(whole.get(route) ?? '')]);
  });
}

test('so does the first page', () => {
  const page = foldHelp(quickAnswer([]) ?? '', 80);
  assert.deepEqual(
    page.split('\n').filter((line) => line.length > 80),
    [],
  );
});

test('descriptions go on in their column, examples as a shell takes them, and quotes are not broken', () => {
  const help = `USAGE
  virtctl create vm --name web --volume x:y "$(cat some where)"

It says more than fits into
one line.

FLAGS
     [--name]  Name of the machine that it is to have   [default = web]
     [--infer-instancetype/--no-infer-instancetype]  Let it

`;
  assert.equal(
    foldHelp(help, 50),
    `USAGE
  virtctl create vm --name web --volume x:y \\
      "$(cat some where)"

It says more than fits into
one line.

FLAGS
     [--name]  Name of the machine that it is to
               have [default = web]
     [--infer-instancetype/--no-infer-instancetype]
        Let it

`,
  );
});
