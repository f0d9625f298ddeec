import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { base64Of } from '../base/base64.ts';
import { commandOfLine, readRan } from './derive-shell.ts';

/** A real shell in place of the agent's. */
function runHere(line: string, folder: string) {
  const [program = '', ...args] = commandOfLine(line, folder);
  const { status, stdout, stderr } = spawnSync(program, args);
  return readRan({ line, folder }, { exitCode: status ?? 0, stdout: base64Of(stdout), stderr: base64Of(stderr), isTruncated: false });
}

test('a line runs in the folder that the one before ended in', () => {
  const { next } = runHere('cd /usr/bin', '/');
  assert.equal(next, '/usr/bin');
  assert.equal(runHere('pwd; echo "$PWD" >&2', next).ran.output, '/usr/bin\n');
});

test('a command that fails says its code, and the folder stays', () => {
  const { ran, next } = runHere('cd /usr; ls nowhere-at-all', '/');
  assert.match(ran.errors, /nowhere-at-all/);
  assert.deepEqual([ran.ending, next], ['exit code 2', '/usr']);
});

test('a line that ends the shell keeps the folder', () => {
  const { ran, next } = runHere('echo bye; exit 3', '/tmp');
  assert.deepEqual([ran.output, ran.ending, next], ['bye\n', 'exit code 3', '/tmp']);
});

test('what a guest prints is text', () => {
  assert.equal(runHere(`printf '\\033[2J<b>\\302\\233x\\n'`, '/').ran.output, '[2J<b>x\n');
});
