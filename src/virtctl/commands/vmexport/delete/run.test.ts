import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDeps } from '../../../deps.testing.ts';
import { run } from './run.ts';

test('what is gone is as wanted', async () => {
  const { deps, requests } = testDeps({});
  await run(deps, {}, 'out');
  assert.deepEqual(
    requests.map(([request]) => request),
    ['DELETE /apis/export.kubevirt.io/v1/namespaces/default/virtualmachineexports/out'],
  );
});
