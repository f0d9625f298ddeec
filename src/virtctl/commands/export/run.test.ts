import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

test('of a machine that is not there nothing is made, in the cluster or here', async () => {
  const { deps, requests } = testDeps({});
  await assert.rejects(run(deps, { snapshot: false }, 'nobody', '/nonexistent/file.tar'), {
    reason: 'NotFound',
    message: /VirtualMachine "nobody"/,
  });
  await assert.rejects(run(deps, { snapshot: true }, 'nobody', '/nonexistent/file.tar'), { message: /VirtualMachineSnapshot "nobody"/ });
  assert.deepEqual(
    requests.filter(([request]) => !request.startsWith('GET')),
    [],
  );
  assert.equal(existsSync('/nonexistent/file.tar.part'), false);
});
