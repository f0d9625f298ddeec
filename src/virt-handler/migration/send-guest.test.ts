import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../../base/clock.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { noDumps } from '../no-dumps.testing.ts';
import { News } from '../vmi/news.ts';
import type { Performer } from '../vmi/performer.ts';
import { letArrive, receiveGuest } from './receive-guest.ts';
import { callBack, MOVE_CAPABILITIES, sendGuest } from './send-guest.ts';

const to = { host: '10.0.0.2', port: 8186, migrationUid: 'm1' };
const limits = {
  memoryBytes: 2 ** 27,
  msPerGiB: 60_000,
  progressMs: 50_000,
  downtimeMs: 300,
  bytesPerSecond: undefined,
  isSlowedDown: false,
  mayStandStill: false,
};
const command = { name: 'send', disks: ['image0'], to, limits, runs: true } as const;
const QUESTIONS = ['query-kvm', 'query-version', 'query-migrate', 'query-jobs', 'query-named-block-nodes', 'query-status'];

/** A QEMU that sends as it should; `upsets` are answers in the place of its own. */
function qemu(upsets: Readonly<Record<string, () => unknown>> = {}) {
  const said: string[] = [];
  const told: [name: string, args: Readonly<Record<string, unknown>> | undefined][] = [];
  const reports: unknown[] = [];
  let [job, status, closed] = ['none', 'none', false];
  const fake = new FakeClock();
  const clock: Clock = { now: () => fake.now(), steady: () => fake.steady(), sleep: async (ms) => fake.advance(ms) };
  const answers: Record<string, () => unknown> = {
    'query-named-block-nodes': () => ['image0', 'copy-image0'].map((name) => ({ 'node-name': name, image: { 'virtual-size': 1024 } })),
    'blockdev-mirror': () => (job = 'ready'),
    'block-job-cancel': () => (job = 'concluded'),
    'job-dismiss': () => (job = 'none'),
    'query-jobs': () => (job === 'none' ? [] : [{ id: 'move-image0', status: job, 'current-progress': 10, 'total-progress': 10 }]),
    migrate: () => (status = 'pre-switchover'),
    'migrate-continue': () => (status = 'completed'),
    migrate_cancel: () => (status = status === 'completed' || status === 'none' ? status : 'cancelled'),
    'query-migrate': () => ({ status, ram: { transferred: 1, total: 2 } }),
    'query-kvm': () => ({ enabled: true, present: true }),
    'query-version': () => ({ qemu: { major: 7, minor: 2, micro: 22 } }),
    'query-status': () => ({ status: 'running', running: true }),
    ...upsets,
  };
  const execute = async (name: string, args?: Readonly<Record<string, unknown>>) => {
    if (!QUESTIONS.includes(name)) said.push(name);
    told.push([name, args]);
    return answers[name]?.() ?? {};
  };
  const close = () => {
    closed = true;
  };
  const connectAhead = async () => void said.push('(memory is connected)');
  const openWay = async () => ({ close, agree: async () => {}, sendPrinted: async () => {}, connectAhead });
  const performer: Performer = {
    qmp: { execute },
    clock,
    openWay,
    openStore: () => Promise.reject(new Error('no way')),
    dumps: noDumps,
    report: (progress) => void reports.push(progress),
  };
  return { performer, said, told, reports, isClosed: () => closed };
}

/** What is left of a move before is taken away first. */
const CLEAN = ['migrate_cancel', 'blockdev-del'];
const BEGIN = [...CLEAN, 'migrate-set-capabilities', 'blockdev-add', 'blockdev-mirror'];

test('disks go first, then memory; the disks are let go before the guest is', async () => {
  const { performer, said, isClosed } = qemu();
  await sendGuest(performer, command);
  const rest = ['(memory is connected)', 'migrate-set-parameters', 'migrate', 'block-job-cancel', 'job-dismiss', 'migrate-continue'];
  assert.deepEqual([said, isClosed()], [[...BEGIN, ...rest], true]);
});

test('what was sent is told: the bytes of disks and memory', async () => {
  const { bytesDone, bytesLeft } = await sendGuest(qemu().performer, command);
  assert.deepEqual([bytesDone, bytesLeft], [11, 0]);
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
  const short = { ...command, limits: { ...limits, msPerGiB: 1_000 } };
  await assert.rejects(sendGuest(performer, short), /the copy of its memory takes too long/);
  assert.equal(said.filter((each) => each === 'migrate_cancel').length, 2);
});

test('one that may stand still does when its time is over, and then gets there', async () => {
  let status = 'none';
  const { performer, told } = qemu({
    migrate: () => (status = 'active'),
    'migrate-set-parameters': () => (status = status === 'active' ? 'pre-switchover' : status),
    'migrate-continue': () => (status = 'completed'),
    'query-migrate': () => ({ status }),
  });
  await sendGuest(performer, { ...command, limits: { ...limits, msPerGiB: 1_000, mayStandStill: true } });
  assert.deepEqual(
    told.filter(([name]) => name === 'migrate-set-parameters').map(([, args]) => args),
    [{ 'max-bandwidth': 2 ** 30, 'downtime-limit': 300 }, { 'downtime-limit': 2_000_000 }],
  );
});

/** Without KVM: what is said around the copy of memory, which is looked at as often as `looks` says. */
async function sendEmulated(major: number | undefined, { runs = true, looks = 1, refusesCont = false, isLate = false } = {}) {
  let status = 'none';
  let looksAfterRefusal = 0;
  const { performer, said, told } = qemu({
    'query-kvm': () => ({ enabled: false }),
    'query-version': () => (major === undefined ? {} : { qemu: { major } }),
    migrate: () => (status = 'active'),
    cont: () => {
      if (!isLate) status = 'pre-switchover';
      if (refusesCont) throw new Error('Migration is not finalized yet');
    },
    'query-status': () => ({ status: refusesCont ? 'finish-migrate' : 'running' }),
    'migrate-continue': () => (status = 'completed'),
    'query-migrate': () => {
      const now = status;
      if (status === 'active' && (!runs || major !== 7)) status = 'pre-switchover';
      if (status === 'active' && isLate && ++looksAfterRefusal > 2) status = 'pre-switchover';
      return { status: now, ram: { 'dirty-sync-count': looks } };
    },
  });
  await sendGuest(performer, { ...command, runs, limits: { ...limits, bytesPerSecond: 1_000 } });
  const { 'migrate-set-parameters': parameters } = Object.fromEntries(told);
  return [said.filter((each) => ['(memory is connected)', 'stop', 'migrate', 'cont'].includes(each)), Object.values(parameters ?? {})];
}

const CONNECTED = '(memory is connected)';

test('without KVM an older QEMU forgets writes: the guest runs while its memory is gone through once, or stands still for all of it', async () => {
  assert.deepEqual(await sendEmulated(7), [
    [CONNECTED, 'stop', 'migrate', 'cont'],
    [1_000, 0],
  ]);
  assert.deepEqual(await sendEmulated(7, { runs: false }), [
    [CONNECTED, 'stop', 'migrate'],
    [1_000, 0],
  ]); // somebody has paused it
  assert.deepEqual(await sendEmulated(8), [
    [CONNECTED, 'stop', 'migrate'],
    [2 ** 30, 300],
  ]);
  assert.deepEqual(await sendEmulated(undefined), [
    [CONNECTED, 'stop', 'migrate'],
    [2 ** 30, 300],
  ]);
  assert.deepEqual(await sendEmulated(9), [
    [CONNECTED, 'migrate'],
    [1_000, 300],
  ]);
});

test('one whose memory was sent before it could go on stands still for the rest', async () => {
  assert.deepEqual(await sendEmulated(7, { refusesCont: true }), [
    [CONNECTED, 'stop', 'migrate', 'cont'],
    [1_000, 0],
  ]);
});

test('so does one whose QEMU stands at its end, and says so of the copy a moment later', async () => {
  assert.deepEqual(await sendEmulated(7, { refusesCont: true, isLate: true }), [
    [CONNECTED, 'stop', 'migrate', 'cont'],
    [1_000, 0],
  ]);
});

test('a QEMU that has looked in between may have missed a write: the guest stays', async () => {
  await assert.rejects(sendEmulated(7, { looks: 2 }), /has looked 2 times at what the guest writes/);
});

test('one whose memory is gone through once stands still when its time is over, without another look', async () => {
  let status = 'none';
  const { performer, said, told } = qemu({
    'query-kvm': () => ({ enabled: false }),
    migrate: () => (status = 'active'),
    stop: () => (status = status === 'active' ? 'pre-switchover' : status),
    'migrate-continue': () => (status = 'completed'),
    'query-migrate': () => ({ status, ram: { 'dirty-sync-count': 1 } }),
  });
  await sendGuest(performer, { ...command, limits: { ...limits, msPerGiB: 1_000, mayStandStill: true } });
  assert.deepEqual(
    [said.filter((each) => ['stop', 'cont'].includes(each)), told.filter(([name]) => name === 'migrate-set-parameters').length],
    [['stop', 'cont', 'stop'], 1],
  );
});

test('one that stood still for that runs on when it stays, unless somebody has paused it', async () => {
  for (const runs of [true, false]) {
    let status = 'running';
    const upsets = {
      'query-kvm': () => ({ enabled: false }),
      'query-status': () => ({ status }),
      stop: () => (status = 'paused'),
      migrate: () => {
        throw new Error('no way');
      },
    };
    const { performer, said } = qemu(upsets);
    await assert.rejects(sendGuest(performer, { ...command, runs }), /no way/);
    assert.deepEqual([said.indexOf('cont') > said.indexOf('stop'), said.includes('cont')], [runs, runs]);
  }
});

test('a copy is not cancelled in the moment in which QEMU would not hear it', async () => {
  let looks = 0;
  const { performer, told } = qemu({
    'query-status': () => ({ status: 'finish-migrate' }),
    'query-migrate': () => ({
      status: told.some(([name]) => name === 'migrate_cancel') ? 'cancelled' : ++looks > 2 ? 'pre-switchover' : 'active',
    }),
  });
  await callBack(performer, { disks: [], runs: true, isKept: false });
  const names = told.map(([name]) => name);
  assert.equal(names.slice(0, names.indexOf('migrate_cancel')).filter((name) => name === 'query-migrate').length, 3);
});

test('one that was cancelled in it all the same is told to continue, and hears the cancel then', async () => {
  let status = 'pre-switchover';
  const { performer, told } = qemu({
    migrate_cancel: () => (status = 'cancelling'),
    'migrate-continue': () => (status = 'cancelled'),
    'query-migrate': () => ({ status }),
  });
  await callBack(performer, { disks: [], runs: true, isKept: false });
  assert.deepEqual(
    told.filter(([name]) => name === 'migrate-continue').map(([, args]) => args),
    [{ state: 'cancelling' }],
  );
});

test('one that was reset meanwhile runs on unless QEMU says that it was sent; whether it was is then for somebody else to know', async () => {
  const ran = async (lastMove: string, isKept: boolean): Promise<boolean> => {
    const { performer, said } = qemu({ 'query-status': () => ({ status: 'prelaunch' }), 'query-migrate': () => ({ status: lastMove }) });
    await callBack(performer, { disks: [], runs: true, isKept });
    return said.includes('cont');
  };
  assert.deepEqual([await ran('cancelled', false), await ran('completed', false), await ran('completed', true)], [true, false, true]);
});

test('a copy that does not come nearer to its end is given up', async () => {
  const { performer } = qemu({ migrate: () => undefined, 'query-migrate': busyUntilCancelled() });
  const stuck = { ...command, limits: { ...limits, progressMs: 1_000 } };
  await assert.rejects(sendGuest(performer, stuck), /the copy of its memory has not come nearer to its end for 1 s/);
});

test('what a move may take of the network is for disks and memory, and a guest is slowed down where that is allowed', async () => {
  const { performer, told } = qemu();
  await sendGuest(performer, { ...command, limits: { ...limits, bytesPerSecond: 1_000, isSlowedDown: true } });
  const args = Object.fromEntries(told);
  assert.equal(args['blockdev-mirror']?.['speed'], 1_000);
  assert.equal(args['migrate-set-parameters']?.['max-bandwidth'], 1_000);
  const slowed = { capability: 'auto-converge', state: true };
  assert.deepEqual(args['migrate-set-capabilities'], { capabilities: [...MOVE_CAPABILITIES, slowed] });
});

test('how far it is is told once a second', async () => {
  let looks = 0;
  const { performer, reports } = qemu({
    migrate: () => undefined,
    'query-migrate': () => ({
      status: looks++ < 1 ? 'none' : looks < 25 ? 'active' : looks < 27 ? 'pre-switchover' : 'completed',
      ram: { transferred: looks, remaining: 1_000 - looks, mbps: 8, 'dirty-pages-rate': 2, 'page-size': 4096, 'dirty-sync-count': 1 },
      'expected-downtime': 300,
    }),
  });
  await sendGuest(performer, command);
  assert.equal(reports.length, 3);
  assert.deepEqual(reports[0], {
    stage: 'Memory',
    bytesDone: 2,
    bytesLeft: 998,
    bytesPerSecond: 1_000_000,
    dirtyBytesPerSecond: 8192,
    iterations: 1,
    expectedDowntimeMs: 300,
    isStandingStill: false,
  });
});

test('what QEMU tells ends a wait, also when it is told during the look before it', async () => {
  const news = new News();
  let looks = 0;
  const { performer } = qemu({
    migrate: () => undefined,
    'query-migrate': () => {
      if (looks === 2) news.tell();
      return { status: ['none', 'active', 'active', 'pre-switchover'][looks++] ?? 'completed' };
    },
  });
  const slept: boolean[] = [];
  const clock: Clock = {
    ...performer.clock,
    sleep: async (ms, signal) => {
      if (ms === 100) slept.push(signal?.aborted === true);
    },
  };
  await sendGuest({ ...performer, clock, news: news.signal }, command);
  assert.deepEqual(slept, [false, true]);
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
