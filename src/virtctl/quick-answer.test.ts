import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildVirtctl } from './app.ts';
import { propose } from './complete/propose.ts';
import type { Context } from './context.ts';
import { quickAnswer } from './quick-answer.ts';

for (const partial of ['', 's', 'st', 'start', 'port-', 'nothing', '-', '--help'])
  test(`the commands for ${JSON.stringify(partial)} are those of the table`, async () => {
    assert.equal(
      quickAnswer(['__complete', partial], () => true),
      await propose(await buildVirtctl(), [partial], {} as Context),
    );
  });

for (const words of [[], ['-h'], ['--help', 'start'], ['start', '--help'], ['__complete', 'start', '']])
  test(`${JSON.stringify(words)} takes the table`, () => {
    assert.equal(
      quickAnswer(words, () => true),
      undefined,
    );
  });

test('help has colours on a terminal and another name as a plugin, which takes the table', () => {
  assert.equal(
    quickAnswer(['--help'], () => false),
    undefined,
  );
  assert.match(quickAnswer(['--help'], () => true) ?? '', /^USAGE\n {2}virtctl up\n/);
});
