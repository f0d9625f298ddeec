import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wrongArguments } from './wrong-arguments.ts';

const HELP = 'the same command with --help says what it takes';
for (const [said, told] of [
  ['No flag registered for --nope', `error[USAGE]: unknown flag --nope\nfix: ${HELP}`],
  ['No flag registered for --namespac, did you mean --namespace?', 'error[USAGE]: unknown flag --namespac\nfix: did you mean --namespace?'],
  ['Failed to parse "x" for nodes: no number, at all', `error[USAGE]: failed to parse "x" for nodes: no number, at all\nfix: ${HELP}`],
] as const)
  test(`${said}: one error with its fix`, () => assert.equal(wrongArguments(said), told));
