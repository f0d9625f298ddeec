import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vm, vmi } from '../../../testing/builders.ts';
import { testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const BASE = '/apis/kubevirt.io/v1/namespaces/default';
const GROUP = '/apis/snapshot.kubevirt.io/v1beta1/namespaces/default';
const kept = (name: string, creationTime: string) => ({
  metadata: { name },
  spec: { source: { name: 'db' } },
  status: { readyToUse: true, creationTime },
});
const items = [kept('old', '2026-01-01T00:00:00Z'), kept('new', '2026-01-02T00:00:00Z')];

function answers(more: object, status: object) {
  return {
    [`GET ${BASE}/virtualmachines/db`]: vm('Halted'),
    [`GET ${GROUP}/virtualmachinesnapshots`]: { metadata: {}, items },
    [`POST ${GROUP}/virtualmachinerestores`]: {},
    [`GET ${GROUP}/virtualmachinerestores/new-0`]: { metadata: { name: 'new-0' }, status },
    ...more,
  };
}

async function codeOf(work: Promise<void>): Promise<string> {
  return work.then(
    () => 'none',
    (error: { code: string }) => error.code,
  );
}

test('the newest snapshot is what the machine becomes', async () => {
  const restores = [{ volumeName: 'root', persistentVolumeClaim: 'restore-1-root' }];
  const { deps, requests, stdout } = testDeps(answers({}, { complete: true, restores }), {
    clock: { now: () => 0, steady: () => 0, sleep: async () => {} },
  });
  await run(deps, {}, 'db');
  const [, sent] = requests.find(([request]) => request.startsWith('POST')) ?? [];
  assert.equal((sent as { spec: { virtualMachineSnapshotName: string } }).spec.virtualMachineSnapshotName, 'new');
  assert.equal(stdout(), 'db is what it was in new, with new disks: root (PVC restore-1-root)\n');
});

test('a machine whose memory was kept goes on', async () => {
  const warm = { ...kept('new', '2026-01-02T00:00:00Z'), spec: { source: { name: 'db' }, memory: true } };
  const resume = 'PUT /apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachines/db/resume';
  const more = { [`GET ${GROUP}/virtualmachinesnapshots`]: { metadata: {}, items: [warm] }, [resume]: {} };
  const { deps, stdout } = testDeps(answers(more, { complete: true }), { clock: { now: () => 0, steady: () => 0, sleep: async () => {} } });
  await run(deps, {}, 'db');
  assert.equal(stdout(), 'db is what it was in new\nVM db was scheduled to resume\n');
});

test('a machine that runs, a snapshot that is not there, and a failure are refused', async () => {
  const clock = { now: () => 0, steady: () => 0, sleep: async () => {} };
  const running = testDeps(answers({ [`GET ${BASE}/virtualmachineinstances/db`]: vmi('Running') }, {}), { clock });
  const missing = testDeps(answers({}, {}), { clock });
  const conditions = [{ type: 'Failure', status: 'True', message: 'no room' }];
  const failed = testDeps(answers({}, { complete: false, conditions }), { clock });
  assert.deepEqual(
    [
      await codeOf(run(running.deps, {}, 'db')),
      await codeOf(run(missing.deps, {}, 'db', 'never')),
      await codeOf(run(failed.deps, {}, 'db')),
    ],
    ['VM_RUNNING', 'NO_SNAPSHOT', 'ROLLBACK_FAILED'],
  );
});

test('a machine that is suspended is refused before anything is made', async () => {
  const suspended = vm('Always', { suspension: { phase: 'Suspended' } } as never);
  const { deps, requests } = testDeps(answers({ [`GET ${BASE}/virtualmachines/db`]: suspended }, {}));
  assert.equal(await codeOf(run(deps, {}, 'db')), 'VM_SUSPENDED');
  assert.equal(
    requests.some(([request]) => request.startsWith('POST')),
    false,
  );
});

test('one that is interrupted while it waits is taken back: the next stop of the machine does not begin it', async () => {
  const conditions = [{ type: 'Progressing', status: 'False', message: 'snapshot other of db is being taken' }];
  const clock = { now: () => 0, steady: () => 0, sleep: async () => world.signal('SIGINT') };
  const gone = { [`DELETE ${GROUP}/virtualmachinerestores/new-0`]: {} };
  const world = testDeps(answers(gone, { complete: false, conditions }), { clock });
  assert.equal(await codeOf(run(world.deps, {}, 'db')), 'INTERRUPTED');
  assert.equal(world.requests.at(-1)?.[0], `DELETE ${GROUP}/virtualmachinerestores/new-0`);
});
