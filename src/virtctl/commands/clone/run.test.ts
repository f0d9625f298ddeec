import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vm } from '../../../testing/builders.ts';
import { testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const BASE = '/apis/kubevirt.io/v1/namespaces/default/virtualmachines';
const CLONES = '/apis/clone.kubevirt.io/v1beta1/namespaces/default/virtualmachineclones';
const clock = { now: () => 0, steady: () => 0, sleep: async () => {} };

function answers(status: object, more: object = {}) {
  return {
    [`GET ${BASE}/db`]: vm('Always'),
    [`POST ${CLONES}`]: {},
    [`GET ${CLONES}/copy-0`]: { metadata: { name: 'copy-0' }, status },
    ...more,
  };
}

test('a clone is asked for and waited for', async () => {
  const { deps, requests, stdout } = testDeps(answers({ phase: 'Succeeded' }), { clock });
  await run(deps, {}, 'db', 'copy');
  const [, sent] = requests.find(([request]) => request.startsWith('POST')) ?? [];
  const { spec } = sent as { spec: { source: { name: string }; target: { name: string } } };
  assert.deepEqual([spec.source.name, spec.target.name], ['db', 'copy']);
  assert.match(stdout(), /^copy is what db is/);
});

test('a machine that is there, one that is not, and a failure are told', async () => {
  const codeOf = (more: object, status: object, name = 'db') =>
    run(testDeps(answers(status, more), { clock }).deps, {}, name, 'copy').then(
      () => 'none',
      (error: { code?: string | number; reason?: string }) => error.reason ?? error.code,
    );
  assert.deepEqual(
    [
      await codeOf({ [`GET ${BASE}/copy`]: vm('Halted') }, {}),
      await codeOf({}, {}, 'nobody'),
      await codeOf({}, { phase: 'Failed', conditions: [{ type: 'Progressing', status: 'False', message: 'no room' }] }),
    ],
    ['VM_EXISTS', 'NotFound', 'CLONE_FAILED'],
  );
});
