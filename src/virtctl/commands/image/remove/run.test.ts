import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withImage } from '../with-image.testing.ts';
import { run } from './run.ts';

test('the name goes', async (t) => {
  const { deps, stdout, store } = await withImage(t);
  await run(deps, {}, 'localhost/disk:1');
  assert.deepEqual([store.resolve('localhost/disk:1'), stdout()], [undefined, 'localhost/disk:1 removed\n']);
});

test('a name that nobody knows is not found', async (t) => {
  const { deps } = await withImage(t);
  await assert.rejects(run(deps, {}, 'localhost/other'), { reason: 'NotFound' });
});
