import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HELP_SAYS as HELP, wrongArguments } from './wrong-arguments.ts';

for (const [said, told] of [
  ['No alias registered for -w', `error[USAGE]: unknown flag -w\nfix: ${HELP}`],
  ['Expected input for flag --name', `error[USAGE]: --name is missing, or what it is to be\nfix: ${HELP}`],
  ['Expected argument for NAME', `error[USAGE]: NAME is missing\nfix: ${HELP}`],
  ['Expected at least 1 argument(s) for NAME but found none', `error[USAGE]: NAME is missing\nfix: ${HELP}`],
  ['Too many arguments, expected 0 but encountered "web"', `error[USAGE]: "web" is one argument too many\nfix: ${HELP}`],
  ['Failed to parse "x" for nodes: no number, at all', `error[USAGE]: failed to parse "x" for nodes: no number, at all\nfix: ${HELP}`],
] as const)
  test(`${said}: one error with its fix`, () => assert.equal(wrongArguments(said), told));
