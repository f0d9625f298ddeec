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
  await run(deps, { start: false }, 'db', 'copy');
  const [, sent] = requests.find(([request]) => request.startsWith('POST')) ?? [];
  const { spec } = sent as { spec: { source: { name: string }; target: { name: string } } };
  assert.deepEqual([spec.source.name, spec.target.name], ['db', 'copy']);
  assert.match(stdout(), /^copy is what db is/);
});

test('one that is to begin as a snapshot is started when nobody changes it any more', async () => {
  const kept = { metadata: { name: 'warm' }, spec: { source: { name: 'db' } } };
  const snapshots = 'GET /apis/snapshot.kubevirt.io/v1beta1/namespaces/default/virtualmachinesnapshots';
  let looks = 0;
  const absent = () => Response.json({ kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404 }, { status: 404 });
  const { deps, requests, stdout } = testDeps(
    answers(
      { phase: 'Succeeded' },
      {
        [snapshots]: { metadata: {}, items: [kept] },
        [`GET ${BASE}/copy`]: () => [absent(), vm('Halted', { restoreInProgress: 'x' }), vm('Halted')][Math.min(looks++, 2)],
        'PUT /apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachines/copy/start': {},
      },
    ),
    { clock },
  );
  await run(deps, { snapshot: 'warm', start: true }, 'db', 'copy');
  const [, sent] = requests.find(([request]) => request.startsWith('POST')) ?? [];
  assert.equal((sent as { spec: { source: { kind: string } } }).spec.source.kind, 'VirtualMachineSnapshot');
  assert.match(stdout(), /^copy is what db was in warm, .*\nVM copy was scheduled to start\n$/);
  looks = 0;
  await assert.rejects(run(deps, { snapshot: 'cold', start: true }, 'db', 'copy'), /db has no snapshot "cold"/);
});

test('a machine that is there, one that is not, and a failure are told', async () => {
  const codeOf = (more: object, status: object, name = 'db') =>
    run(testDeps(answers(status, more), { clock }).deps, { start: false }, name, 'copy').then(
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

test('a name that cannot be one is told as the name of the machine, before anything is made', async () => {
  const { deps, requests } = testDeps(answers({}), { clock });
  await assert.rejects(run(deps, { start: false }, 'db', 'Hello_World'), { code: 'USAGE', fix: 'hello-world' });
  assert.deepEqual(requests, []);
});
