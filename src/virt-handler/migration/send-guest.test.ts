import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../../base/clock.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import type { Performer } from '../vmi/performer.ts';
import { letArrive, receiveGuest } from './receive-guest.ts';
import { sendGuest } from './send-guest.ts';

const to = { host: '10.0.0.2', port: 8186, migrationUid: 'm1' };
const command = { name: 'send', disks: ['image0'], to, timeoutMs: 60_000 } as const;
const QUESTIONS = ['query-migrate', 'query-jobs', 'query-named-block-nodes', 'query-status'];

/** A QEMU that sends as it should; `upsets` are answers in the place of its own. */
function qemu(upsets: Readonly<Record<string, () => unknown>> = {}) {
  const said: string[] = [];
  let [job, status, closed] = ['none', 'none', false];
  const fake = new FakeClock();
  const clock: Clock = { now: () => fake.now(), steady: () => fake.steady(), sleep: async (ms) => fake.advance(ms) };
  const answers: Record<string, () => unknown> = {
    'query-named-block-nodes': () => ['image0', 'copy-image0'].map((name) => ({ 'node-name': name, image: { 'virtual-size': 1024 } })),
    'blockdev-mirror': () => (job = 'ready'),
    'block-job-cancel': () => (job = 'concluded'),
    'job-dismiss': () => (job = 'none'),
    'query-jobs': () => (job === 'none' ? [] : [{ id: 'move-image0', status: job }]),
    migrate: () => (status = 'pre-switchover'),
    'migrate-continue': () => (status = 'completed'),
    migrate_cancel: () => (status = status === 'completed' || status === 'none' ? status : 'cancelled'),
    'query-migrate': () => ({ status, ram: { transferred: 1, total: 2 } }),
    ...upsets,
  };
  const execute = async (name: string) => {
    if (!QUESTIONS.includes(name)) said.push(name);
    return answers[name]?.() ?? {};
  };
  const close = () => {
    closed = true;
  };
  const openWay = async () => ({ close });
  const performer: Performer = { qmp: { execute }, clock, openWay, report: () => {} };
  return { performer, said, isClosed: () => closed };
}

/** What is left of a move before is taken away first. */
const CLEAN = ['migrate_cancel', 'blockdev-del'];
const BEGIN = [...CLEAN, 'migrate-set-capabilities', 'blockdev-add', 'blockdev-mirror'];

test('disks go first, then memory; the disks are let go before the guest is', async () => {
  const { performer, said, isClosed } = qemu();
  await sendGuest(performer, command);
  const rest = ['migrate-set-parameters', 'migrate', 'block-job-cancel', 'job-dismiss', 'migrate-continue'];
  assert.deepEqual([said, isClosed()], [[...BEGIN, ...rest], true]);
});

for (const [what, upsets, why] of [
  [
    'a disk of another size',
    { 'query-named-block-nodes': () => [{ 'node-name': 'image0', image: { 'virtual-size': 1 } }] },
    /has 1 bytes here/,
  ],
  [
    'a copy of memory that fails',
    { migrate: () => undefined, 'query-migrate': () => ({ status: 'failed', 'error-desc': 'gone' }) },
    /failed: gone/,
  ],
  ['a disk whose copy ends with an error', { 'query-jobs': endsBadly() }, /no space/],
] as const)
  test(`${what} ends the move, and what was begun is undone`, async () => {
    const { performer, said, isClosed } = qemu(upsets);
    await assert.rejects(sendGuest(performer, command), why);
    assert.ok(!said.includes('migrate-continue'));
    assert.deepEqual([said.lastIndexOf('migrate_cancel') > said.indexOf('migrate-set-capabilities'), isClosed()], [true, true]);
  });

test('a guest that never gets to its end is called back in time', async () => {
  const { performer, said } = qemu({ migrate: () => undefined, 'query-migrate': busyUntilCancelled() });
  await assert.rejects(sendGuest(performer, { ...command, timeoutMs: 1_000 }), /the copy of its memory takes too long/);
  assert.equal(said.filter((each) => each === 'migrate_cancel').length, 2);
});

test('a target listens for disks and memory', async () => {
  const { performer, said } = qemu();
  await receiveGuest(performer, { name: 'receive', disks: ['image0'] });
  assert.deepEqual(said, ['migrate-set-capabilities', 'nbd-server-start', 'block-export-add', 'migrate-incoming']);
});

test('a guest goes on after it was loaded and its disks are its own', async () => {
  const states = ['inmigrate', 'paused'];
  const { performer, said } = qemu({ 'query-status': () => ({ status: states.shift() }) });
  await letArrive(performer, { name: 'arrive', runs: true });
  assert.deepEqual([states, said], [[], ['nbd-server-stop', 'cont']]);
});

test('one that was paused does not', async () => {
  const { performer, said } = qemu({ 'query-status': () => ({ status: 'paused' }) });
  await letArrive(performer, { name: 'arrive', runs: false });
  assert.deepEqual(said, ['nbd-server-stop']);
});

function endsBadly() {
  let looks = 0;
  return () => (looks++ === 0 ? [] : [{ id: 'move-image0', status: 'concluded', error: 'no space' }]);
}

function busyUntilCancelled() {
  let looks = 0;
  return () => ({ status: looks++ === 0 || looks > 70 ? 'none' : 'active' });
}
