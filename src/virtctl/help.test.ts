import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Application, type CommandContext, generateHelpTextForAllCommands } from '@stricli/core';
import { buildVirtctl } from './app.ts';

const app = (await buildVirtctl()) as unknown as Application<CommandContext>; // no command is run, so none asks for more of its context

for (const [route, help] of generateHelpTextForAllCommands(app)) {
  test(`the help of "${route}" begins with examples that can be typed as they are`, () => {
    const usage = help.slice(help.indexOf('USAGE'), help.indexOf('\n\n'));
    const examples = usage.split('\n').filter((line) => line.trim().startsWith(route) && !line.endsWith(' -h'));
    assert.ok(examples.length > 0, usage);
    assert.doesNotMatch(examples.join('\n'), /<[A-Z]+>|[[(]-/, usage); // no <PLACEHOLDER>, (--flag) or [--flag]
  });
}
