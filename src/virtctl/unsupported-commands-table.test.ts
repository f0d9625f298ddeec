import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Application, type CommandContext, generateHelpTextForAllCommands, run } from '@stricli/core';
import { buildVirtctl } from './app.ts';
import type { Context } from './context.ts';
import { everythingUnsupported } from './unsupported-commands-table.ts';

async function said(words: string[]): Promise<{ code: unknown; text: string }> {
  let text = '';
  const write = (more: string) => {
    text += more;
    return true;
  };
  const fake = { stdout: { write }, stderr: { write }, env: {}, exitCode: undefined as unknown };
  await run(await buildVirtctl(), words, { process: fake } as unknown as Context); // no command is reached
  return { code: fake.exitCode, text };
}

test('a command of KubeVirt that is not supported is named, with the reason', async () => {
  for (const [command, why] of everythingUnsupported().commands) {
    const words = [command, 'x'];
    const { code, text } = await said(words);
    assert.equal(text, `error[NOT_SUPPORTED]: the command ${command} of KubeVirt's virtctl is not supported\nwhy: ${why}\n`);
    assert.ok(Number(code) < 0, 'usage');
  }
});

test('so is a flag', async () => {
  for (const [flag, why] of everythingUnsupported().flags) {
    const { text } = await said(['create', 'vm', `--${flag}`, 'x']);
    assert.equal(text, `error[NOT_SUPPORTED]: the flag --${flag} of KubeVirt's virtctl is not supported\nwhy: ${why}\n`);
  }
});

test('a slip still gets what was probably meant', async () => {
  assert.match((await said(['strat', 'x'])).text, /did you mean.*start/);
  assert.match((await said(['start', 'x', '--pausd'])).text, /did you mean.*paused/);
});

test('nothing that is supported is said not to be', async () => {
  const app = (await buildVirtctl()) as unknown as Application<CommandContext>; // no command is run, so none asks for more of its context
  const supported = generateHelpTextForAllCommands(app).map(([route]) => route.split(' ').at(-1) ?? '');
  assert.deepEqual(
    everythingUnsupported().commands.filter(([command]) => supported.includes(command)),
    [],
  );
});
