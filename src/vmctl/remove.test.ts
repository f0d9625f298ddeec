import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VirtualMachine } from '../api/kubevirt/kinds/virtual-machine.ts';
import type { KubeObject } from '../api/meta.ts';
import { silentLogger } from '../base/log.ts';
import type { Client } from '../client/client.ts';
import { vm } from '../testing/builders.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { quiet } from '../testing/until.ts';
import type { Task } from './decide.ts';
import { deriveVm } from './derive.ts';
import { vmctlPod } from './pod.testing.ts';
import { removeDerived } from './remove.ts';

const pod = vmctlPod({ deletionGracePeriodSeconds: 10 }, { terminationGracePeriodSeconds: 60 });
const task: Task = { namespace: 'default', name: 'db-web-0', pod, prototypeKey: 'default/db' };
const ours = deriveVm({ ...task, prototype: vm('Halted') });

/** An API with this Pod and this machine, whose deletion takes `endsAfterMs`. */
function api(machine: VirtualMachine | undefined, { clock, endsAfterMs }: { clock: FakeClock; endsAfterMs: number }) {
  const deletedAt: number[] = [];
  const startedAt = clock.now();
  const get = async ({ kind }: { kind: string }): Promise<KubeObject | undefined> => {
    if (kind === 'Pod') return pod;
    if (!machine || (deletedAt[0] !== undefined && clock.now() - deletedAt[0] >= endsAfterMs)) return undefined;
    return deletedAt[0] === undefined
      ? machine
      : { ...machine, metadata: { ...machine.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  };
  const remove = async () => void deletedAt.push(clock.now());
  // the two methods that are used
  return { client: { get, delete: remove } as unknown as Client, deletions: () => deletedAt.map((at) => at - startedAt) };
}

/** How long the removal took, in seconds of the clock. */
async function removal(clock: FakeClock, client: Client): Promise<number> {
  const startedAt = clock.now();
  let isOver = false;
  const done = removeDerived({ client, clock, log: silentLogger, task }).then(() => {
    isOver = true;
  });
  for (await quiet(); !isOver; await quiet()) clock.advance(500);
  await done;
  return (clock.now() - startedAt) / 1000;
}

test('the machine is deleted once, and its end is waited for', async () => {
  const clock = new FakeClock();
  const { client, deletions } = api(ours, { clock, endsAfterMs: 3_000 });
  assert.deepEqual([await removal(clock, client), deletions()], [3, [0]]);
});

test('waiting ends before the grace period that was asked for does', async () => {
  const clock = new FakeClock();
  const { client, deletions } = api(ours, { clock, endsAfterMs: 60_000 });
  assert.deepEqual([await removal(clock, client), deletions()], [8, [0]]);
});

test('what is not ours, or not there, is left alone', async () => {
  const clock = new FakeClock();
  for (const machine of [vm('Always', {}, { name: 'db-web-0' }), undefined]) {
    const { client, deletions } = api(machine, { clock, endsAfterMs: 0 });
    assert.deepEqual([await removal(clock, client), deletions()], [0, []]);
  }
});
