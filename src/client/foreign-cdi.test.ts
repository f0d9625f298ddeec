import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../base/errors.ts';
import { hasForeignCdi } from './foreign-cdi.ts';

const answering = (names: readonly string[]) => ({
  request: async () => Response.json({ resources: names.map((name) => ({ name })) }),
});

test('a CDI is known by the kind that only it has', async () => {
  assert.equal(await hasForeignCdi(answering(['datavolumes', 'datavolumes/status', 'cdiconfigs'])), false);
  assert.equal(await hasForeignCdi(answering(['datavolumes', 'cdis', 'cdiconfigs'])), true);
});

test('without the group there is none, and what cannot be asked is an error', async () => {
  const failing = (reason: 'NotFound' | 'ServiceUnavailable') => ({ request: () => Promise.reject(new ApiError(reason, 'x')) });
  assert.equal(await hasForeignCdi(failing('NotFound')), false);
  await assert.rejects(hasForeignCdi(failing('ServiceUnavailable')));
});
