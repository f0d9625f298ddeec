import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { buildVirtctl } from './app.ts';
import { propose } from './complete/propose.ts';
import type { Context } from './context.ts';
import { COMMANDS } from './generated/commands.ts';

const FILES = ['run.ts', 'run.test.ts', 'bad-moments.testing.ts'];

for (const { words, load } of COMMANDS) {
  test(`${words.join(' ')} is a group, or has a function, a test of it, and says what it does where something is wrong`, async () => {
    const folder = join(import.meta.dirname, 'commands', ...words);
    const files = FILES.filter((name) => existsSync(join(folder, name)));
    assert.deepEqual(files, 'command' in (await load()) ? FILES : []);
  });

  test(`${words.join(' ')} stands somewhere on the first page, by itself or by its group`, async () => {
    const { help } = await load();
    assert.equal(help.group !== undefined, words.length === 1);
  });
}

test('of a command that is named only what it needs is loaded', async () => {
  const proposed = async (first?: string) => (await propose(await buildVirtctl({ first }), [''], {} as Context)).split('\n').length - 1;
  assert.equal(await proposed('image'), 1);
  assert.equal(await proposed('soft-reboot'), 1);
  assert.equal(await proposed('softReboot'), 1);
  assert.equal(await proposed('nothing'), await proposed());
});
