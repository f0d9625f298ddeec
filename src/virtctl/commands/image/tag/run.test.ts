import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withImage } from '../with-image.testing.ts';
import { run } from './run.ts';

test('one more name for the same image', async (t) => {
  const { deps, stdout, store, digest } = await withImage(t);
  await run(deps, {}, 'localhost/disk:1', 'quay.io/team/disk');
  assert.equal(store.resolve('quay.io/team/disk:latest')?.digest, digest);
  assert.equal(stdout(), 'quay.io/team/disk:latest is localhost/disk:1\n');
});

test('an image that is not there gets no name', async (t) => {
  const { deps } = await withImage(t);
  await assert.rejects(run(deps, {}, 'localhost/other', 'localhost/new'), { reason: 'NotFound' });
});
