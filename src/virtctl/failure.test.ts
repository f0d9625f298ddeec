import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from '@stricli/core';
import { ApiError, STATUS_CODES, type StatusReason } from '../base/errors.ts';
import { buildVirtctl } from './app.ts';
import type { Context } from './context.ts';
import { renderError } from './failure.ts';

/** What the library begins with, and what ends it. */
const RED = '\x1b[1m\x1b[31m';
const PLAIN = '\x1b[39m\x1b[22m';

test('a refusal of the API says what to do, whatever its reason', () => {
  const reasons = Object.keys(STATUS_CODES) as StatusReason[]; // keys of a Record
  for (const reason of reasons)
    assert.match(renderError(new ApiError(reason, 'words of the server')), /^error\[\w+\]: words of the server\nfix: \w/);
  assert.match(renderError(new ApiError('NotFound', 'no such machine')), /fix: virtctl ls -A/);
});

for (const [message, fix] of [
  ['Cannot start VM default/web: VM is already running', /^nothing has to be done; virtctl shell web enters it/],
  ['Cannot stop VM default/web: VM is not running', /^virtctl describe web/],
  ['VMI is not running but Scheduling. Cannot exec VMI default/web', /^virtctl shell web -- PROGRAM waits/],
  ['VMI is not running but Pending. Cannot pause VMI default/web', /^virtctl why web/],
  ['Cannot suspend VM default/web: VM is not running', /^virtctl start web/],
  ['Cannot suspend VM default/web.a: the folder mount0 is shared', /^virtctl describe web.a and virtctl why web.a/],
  ['the object has been modified', /^virtctl describe NAME/],
] as const)
  test(`${message}: what helps with that`, () =>
    assert.match(renderError(new ApiError('Conflict', message)).split('\nfix: ')[1] ?? '', fix));

for (const words of [['frobnicate'], ['ls', '--nope'], ['start']])
  test(`virtctl ${words.join(' ')}: on a terminal what is wrong is red, what helps is not; elsewhere neither is`, async () => {
    const said = async (depth: number) => {
      let text = '';
      const write = (more: string) => {
        text += more;
        return true;
      };
      const stream = { write, getColorDepth: () => depth };
      await run(await buildVirtctl(), words, { process: { stdout: stream, stderr: stream, env: {} } } as unknown as Context); // no command is reached
      return text;
    };
    const [plain, coloured] = [await said(1), await said(8)];
    const [what = '', help = ''] = plain.trimEnd().split('\n');
    assert.match(plain, /^error\[USAGE\]: .+\nfix: .+\n$/);
    assert.equal(coloured, `${RED}${what}${PLAIN}\n${help}${PLAIN}\n`);
  });

test('so is the failure of a command', () => {
  assert.equal(renderError(new ApiError('Gone', 'it went'), true).split('\n')[0], `error[Gone]: it went${PLAIN}`);
});
