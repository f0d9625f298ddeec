/** Every command of virtctl is called by some test against a cluster with real guests. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { type Application, type CommandContext, generateHelpTextForAllCommands } from '@stricli/core';
import { buildVirtctl } from '../../src/virtctl/app.ts';

const FOLDERS = [import.meta.dirname, resolve(import.meta.dirname, '../conformance/seeds')];

test('every command has a test with real guests', () => {
  const text = FOLDERS.flatMap((folder) => readdirSync(folder, { withFileTypes: true }).map((entry) => ({ folder, entry })))
    .filter(({ entry }) => entry.isFile() && join(entry.parentPath, entry.name) !== import.meta.filename)
    .map(({ folder, entry }) => readFileSync(join(folder, entry.name), 'utf8'))
    .join('\n');
  const app = buildVirtctl() as unknown as Application<CommandContext>; // no command is run, so none asks for more of its context
  const commands = generateHelpTextForAllCommands(app).map(([route]) => route.split(' ').slice(1));
  const missing = commands.filter((words) => !isCalledIn(text, words)).map((words) => words.join(' '));
  assert.ok(commands.length > 30);
  assert.deepEqual(missing, []);
});

/** As a list of arguments, or as a line of a session. */
function isCalledIn(text: string, words: readonly string[]): boolean {
  const asList = words.map((word) => `'${word}'`).join(',\\s*');
  return new RegExp(`(?:\\[|virtctl\\(|\\.\\.\\.)${asList}[,\\]]|virtctl ${words.join(' ')}(?![\\w-])`).test(text);
}
