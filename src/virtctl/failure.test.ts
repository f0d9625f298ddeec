import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, STATUS_CODES, type StatusReason } from '../base/errors.ts';
import { renderError } from './failure.ts';

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
