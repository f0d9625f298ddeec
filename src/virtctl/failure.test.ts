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
