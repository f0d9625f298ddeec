/**
 * The source of a move: QEMU copies the disks that are on its node alone, then the memory, stops the guest, copies the rest of both, and lets
 * go. Until the last answer of the target is there the guest can be had back here, and is: whatever fails, what was begun is undone, and QEMU
 * lets the guest run on by itself. After it the guest stands still on both sides, and whoever decides says where it goes on.
 */
import { OUTGOING_SOCKETS } from '../../api/launcher/files.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import type { DomainCommand, Sent, Way } from '../vmi/domain-command.ts';
import type { Performer } from '../vmi/performer.ts';
import { type Copy, followCopy, judgeCopy } from './judge-copy.ts';
import { letRunAgain, memoryPassOf, requireOneLook } from './memory-pass.ts';
import { timeoutMsOf } from './send-limits.ts';

type Send = Extract<DomainCommand, { name: 'send' }>;
type Sender = Pick<Performer, 'qmp' | 'clock' | 'report' | 'news'>;

/** QEMU tells what there is to see; this is for what it forgot to tell, and for how far it is. */
const POLL_MS = 100;
/** How long QEMU may take to undo what it began. */
const UNDO_MS = 30_000;
/** A tunnel takes what it is given; without a limit QEMU would promise a stop that is too short. */
const BYTES_PER_SECOND = 2 ** 30;
/** A cancel takes a few milliseconds. */
const LATE_MS = 1_000;
/** Between two instructions of QEMU, on a machine that has much else to do. */
const BETWEEN_MS = 5_000;
/** The longest that the guest stands still before it is had back. */
const SWITCH_MS = 60_000;
/** QEMU takes no more: whatever is left, the guest stands still for it. */
const ANY_DOWNTIME_MS = 2_000_000;
/** Between the end of a guest's words in its QEMU and here. */
const PRINTED_COMES_MS = 10;
const PRINTED_MS = 1_000;
/** How often is told how far it is. */
const REPORT_MS = 1_000;

/** The capabilities that both sides have to agree on: the source hears whether the target could load the guest, and nothing is handed over unasked. */
export const MOVE_CAPABILITIES = ['events', 'return-path', 'pause-before-switchover'].map((capability) => ({ capability, state: true }));

/** Resolves with what was sent when the guest is in the other QEMU, and stands still in both. */
export async function sendGuest(performer: Performer, { disks, to, limits, runs }: Send): Promise<Sent> {
  const { qmp, clock, openWay } = performer;
  const way = await openWay(to);
  const beganAt = clock.steady();
  try {
    await way.agree((command) => qmp.execute(command));
    await callBack(performer, { disks, runs, isKept: false }); // what is left of a move that was cut off
    const slowDown = { capability: 'auto-converge', state: limits.isSlowedDown };
    await qmp.execute('migrate-set-capabilities', { capabilities: [...MOVE_CAPABILITIES, slowDown] });
    let bytes = limits.memoryBytes;
    for (const disk of disks) bytes += await beginCopy(performer, disk, limits);
    const course = { beganAt, limits, limitMs: timeoutMsOf(limits, bytes) };
    const copied = await follow(performer, { ...course, what: 'the copy of its disks' }, () => lookAtDisks(performer, disks, beganAt));
    await way.connectAhead();
    await copyMemory(performer, { course, runs });
    const printed = sendPrinted(performer, way);
    const sent = await letGo(performer, { disks, switchMs: limits.mayStandStill ? Math.max(SWITCH_MS, course.limitMs) : SWITCH_MS });
    await printed;
    return { ...sent, bytesDone: copied.bytesDone + sent.bytesDone, bytesLeft: 0 };
  } catch (error) {
    await callBack(performer, { disks, runs, isKept: false }).catch(() => {}); // why it failed is worth more than what failed after it
    throw error;
  } finally {
    way.close();
  }
}

/** Beside the rest of the guest, which stands still: what it printed last has come by then. It is no reason to stay, nor one to stand still for longer. */
async function sendPrinted({ clock }: Sender, way: Way): Promise<void> {
  const decided = new AbortController();
  await clock.sleep(PRINTED_COMES_MS);
  await Promise.race([way.sendPrinted().catch(() => {}), clock.sleep(PRINTED_MS, decided.signal)]);
  decided.abort();
}

/** The guest stands still: the rest of its disks and memory go, and the other QEMU has all of it. */
async function letGo(sender: Sender, { disks, switchMs }: { readonly disks: readonly string[]; readonly switchMs: number }): Promise<Sent> {
  const { qmp, clock } = sender;
  const deadline = clock.steady() + switchMs;
  for (const disk of disks) await qmp.execute('block-job-cancel', { device: jobOf(disk) });
  await until(sender, { deadline, what: 'the last of its disks' }, () => areFinished(sender, disks));
  await qmp.execute('migrate-continue', { state: 'pre-switchover' });
  return until(sender, { deadline, what: 'the answer of the other node' }, async () => {
    const { isThere, progress } = await lookAtMemory(sender, 'completed');
    return isThere && progress;
  });
}

/** Resolves when the guest stands still, and the last that it has written is left to send. */
async function copyMemory(
  sender: Sender,
  { course, runs }: { readonly course: Omit<Course, 'what'>; readonly runs: boolean },
): Promise<void> {
  const { qmp } = sender;
  const { limits } = course;
  const pass = await memoryPassOf(qmp);
  if (pass !== 'as QEMU does it') await qmp.execute('stop');
  // A guest that stands still is not to wait for a share of the network.
  const rate = pass === 'standing still' ? undefined : limits.bytesPerSecond;
  const downtimeMs = pass === 'once, then standing still' ? 0 : limits.downtimeMs;
  await qmp.execute('migrate-set-parameters', { 'max-bandwidth': rate ?? BYTES_PER_SECOND, 'downtime-limit': downtimeMs });
  await qmp.execute('migrate', { uri: `unix:${OUTGOING_SOCKETS.memory}` });
  const isOnce = pass === 'once, then standing still';
  if (isOnce && runs) await goOnAfterFirstLook(sender);
  const standStill = isOnce ? stop : standStillByItself;
  const { iterations } = await follow(sender, { ...course, what: 'the copy of its memory', standStill }, () =>
    lookAtMemory(sender, 'pre-switchover'),
  );
  if (isOnce) requireOneLook(iterations);
}

async function goOnAfterFirstLook(sender: Sender): Promise<void> {
  const { qmp, clock } = sender;
  const wait = { deadline: clock.steady() + UNDO_MS, what: 'the first look at its memory' };
  const statusOfCopy = async () => (await migrationOf(qmp)).status;
  const status = await until(sender, wait, async () => {
    const now = await statusOfCopy();
    return now !== 'none' && now !== 'setup' && now;
  });
  if (status === 'active') await letRunAgain(qmp, statusOfCopy);
}

/** QEMU itself stops a guest when it may: it lets it run again when the move ends before it is over. */
async function standStillByItself(qmp: Performer['qmp']): Promise<void> {
  await qmp.execute('migrate-set-parameters', { 'downtime-limit': ANY_DOWNTIME_MS });
}

/** Without another look at what it has written. Whoever calls it back lets it run again. */
async function stop(qmp: Performer['qmp']): Promise<void> {
  await qmp.execute('stop');
}

type Look = { readonly isThere: boolean; readonly progress: Sent };
type Course = {
  readonly what: string;
  readonly beganAt: number;
  readonly limitMs: number;
  readonly limits: Send['limits'];
  readonly standStill?: (qmp: Performer['qmp']) => Promise<void>;
};

/** Resolves when a copy is as far as it can be while the guest runs; throws when it will not be in time. */
async function follow(sender: Sender, { what, beganAt, limitMs, limits, standStill }: Course, look: () => Promise<Look>): Promise<Sent> {
  const { qmp, clock, report, news } = sender;
  const mayStandStill = limits.mayStandStill && standStill !== undefined;
  const startMs = clock.steady() - beganAt;
  let copy: Copy = { elapsedMs: startMs, limitMs, left: Number.POSITIVE_INFINITY, nearerAtMs: startMs, isStandingStill: false };
  let reportedAt = Number.NEGATIVE_INFINITY;
  for (;;) {
    const told = news?.();
    const { isThere, progress } = await look();
    if (isThere) return progress;
    copy = followCopy(copy, { left: progress.bytesLeft, elapsedMs: clock.steady() - beganAt });
    const verdict = judgeCopy(copy, { ...limits, mayStandStill });
    if (verdict === 'too long') throw new Error(`${what} takes too long`);
    if (verdict === 'stuck') throw new Error(`${what} has not come nearer to its end for ${limits.progressMs / 1000} s`);
    if (verdict === 'stand still') {
      await standStill?.(qmp);
      copy = { ...copy, isStandingStill: true, nearerAtMs: copy.elapsedMs };
    }
    if (copy.elapsedMs - reportedAt >= REPORT_MS) {
      report({ ...progress, isStandingStill: copy.isStandingStill });
      reportedAt = copy.elapsedMs;
    }
    await clock.sleep(POLL_MS, told);
  }
}

/**
 * Undoes what was begun, as far as there is something. The guest runs on here unless somebody has paused it, or it was sent already and may yet be
 * handed over. Resolves with what QEMU says of it then.
 */
export async function callBack(
  caller: Pick<Performer, 'qmp' | 'clock' | 'news'>,
  { disks, runs, isKept }: Omit<Extract<DomainCommand, { name: 'call-back' }>, 'name'>,
): Promise<unknown> {
  const { qmp, clock } = caller;
  const deadline = clock.steady() + UNDO_MS;
  await untilItHearsACancel(caller);
  await qmp.execute('migrate_cancel');
  const lateAt = clock.steady() + LATE_MS;
  await until(caller, { deadline, what: 'the end of a copy of its memory' }, async () => {
    const { status } = await migrationOf(qmp);
    if (status === 'cancelling' && clock.steady() >= lateAt) await qmp.execute('migrate-continue', { state: status }).catch(() => {}); // it may have ended
    return !BUSY.includes(status);
  });
  for (const disk of disks) {
    if (!(await jobsOf(qmp)).has(jobOf(disk))) continue;
    await qmp.execute('block-job-cancel', { device: jobOf(disk), force: true }).catch(() => {}); // it may have ended
    await until(caller, { deadline, what: 'the end of a copy of a disk' }, async () => isConcluded((await jobsOf(qmp)).get(jobOf(disk))));
    await qmp.execute('job-dismiss', { id: jobOf(disk) });
  }
  for (const disk of disks) await qmp.execute('blockdev-del', { 'node-name': copyOf(disk) }).catch(() => {}); // it may never have been
  await until(caller, { deadline, what: 'the end of the switch' }, async () => !isKept || (await statusOf(qmp)) !== 'finish-migrate');
  const status = await statusOf(qmp);
  if (!runs || !(await mayRunOn(qmp, status, isKept))) return status;
  await qmp.execute('cont');
  return statusOf(qmp);
}

/**
 * Between stopping the guest for the rest and saying so of the copy, QEMU sets out to wait for a word that it does not take a cancel for: cancelled in that
 * moment, it waits for ever, and the guest with it. If it does all the same, it is told to continue, finds that it was cancelled, and lets the guest run.
 */
async function untilItHearsACancel(caller: Pick<Performer, 'qmp' | 'clock' | 'news'>): Promise<void> {
  const { qmp, clock } = caller;
  const isBetween = async () => (await statusOf(qmp)) === 'finish-migrate' && (await migrationOf(qmp)).status === 'active';
  const wait = { deadline: clock.steady() + BETWEEN_MS, what: 'the word that the guest stands still' };
  await until(caller, wait, async () => !(await isBetween())).catch(() => {}); // then it is cancelled all the same
}

/** One that was reset while it stood still does not show in its status whether it was sent before; the last move of this QEMU does. */
async function mayRunOn(qmp: Performer['qmp'], status: unknown, isKept: boolean): Promise<boolean> {
  if (status === 'prelaunch') return isKept || (await migrationOf(qmp)).status !== 'completed';
  return status === 'paused' || (isKept && status === 'postmigrate');
}

async function statusOf(qmp: Performer['qmp']): Promise<unknown> {
  const answer = await qmp.execute('query-status');
  return isObject(answer) ? answer['status'] : undefined;
}

/** All of the disk, what its image has included: the other node may have another image of the same name. Resolves with its size. */
async function beginCopy({ qmp }: Sender, disk: string, { bytesPerSecond }: Send['limits']): Promise<number> {
  const server = { type: 'unix', path: OUTGOING_SOCKETS.disks };
  await qmp.execute('blockdev-add', { driver: 'nbd', 'node-name': copyOf(disk), server, export: disk });
  const sizes = await sizesOf(qmp);
  const size = sizes.get(disk);
  if (size === undefined || size !== sizes.get(copyOf(disk)))
    throw new Error(`disk ${disk} has ${size} bytes here and ${sizes.get(copyOf(disk))} on the other node`);
  const [target, speed] = [copyOf(disk), bytesPerSecond ?? 0]; // 0 is no limit
  await qmp.execute('blockdev-mirror', { 'job-id': jobOf(disk), device: disk, target, sync: 'full', speed, 'auto-dismiss': false });
  return size;
}

async function lookAtDisks({ qmp, clock }: Sender, disks: readonly string[], beganAt: number): Promise<Look> {
  const jobs = await jobsOf(qmp);
  for (const disk of disks) failIfEnded(disk, jobs.get(jobOf(disk)));
  const ours = disks.map((disk) => jobs.get(jobOf(disk)));
  const sum = (field: string) => ours.reduce((total, job) => total + numberIn(job?.[field]), 0);
  const [bytesDone, bytesTotal] = [sum('current-progress'), sum('total-progress')];
  const seconds = Math.max(1, clock.steady() - beganAt) / 1000;
  const progress = {
    stage: 'Disks',
    bytesDone,
    bytesLeft: bytesTotal - bytesDone,
    bytesPerSecond: Math.round(bytesDone / seconds),
  } as const;
  return { isThere: ours.every((job) => job?.['status'] === 'ready'), progress };
}

async function areFinished({ qmp }: Sender, disks: readonly string[]): Promise<boolean> {
  const jobs = await jobsOf(qmp);
  const left = [...jobs.values()].filter(({ id }) => disks.some((disk) => id === jobOf(disk)));
  for (const { id, error } of left) if (error !== undefined) throw new Error(`the copy of a disk (${id}) failed: ${error}`);
  if (!left.every(isConcluded)) return false;
  for (const { id } of left) await qmp.execute('job-dismiss', { id });
  return true;
}

function failIfEnded(disk: string, job: JsonObject | undefined): void {
  if (job && !isConcluded(job)) return;
  throw new Error(`the copy of disk ${disk} ended: ${job?.['error'] ?? 'nobody said why'}`);
}

function isConcluded(job: JsonObject | undefined): boolean {
  return job === undefined || job['status'] === 'concluded';
}

const BUSY: readonly string[] = ['setup', 'cancelling', 'active', 'pre-switchover', 'device', 'wait-unplug'];

/** Throws when it will never be. */
async function lookAtMemory({ qmp }: Sender, wanted: 'pre-switchover' | 'completed'): Promise<Look> {
  const { status, why, progress } = await migrationOf(qmp);
  if (status === wanted) return { isThere: true, progress };
  if (BUSY.includes(status) && status !== 'cancelling') return { isThere: false, progress };
  throw new Error(`the copy of its memory is ${status}${why ? `: ${why}` : ''}`);
}

async function migrationOf(qmp: Performer['qmp']) {
  const answer = await qmp.execute('query-migrate');
  const { status, ram, 'error-desc': why, 'expected-downtime': downtime } = isObject(answer) ? answer : {};
  const of = (field: string) => (isObject(ram) ? numberIn(ram[field]) : 0);
  const progress: Look['progress'] = {
    stage: 'Memory',
    bytesDone: of('transferred'),
    bytesLeft: of('remaining'),
    bytesPerSecond: Math.round((of('mbps') * 1e6) / 8),
    dirtyBytesPerSecond: of('dirty-pages-rate') * of('page-size'),
    iterations: of('dirty-sync-count'),
    expectedDowntimeMs: numberIn(downtime),
  };
  return { status: String(status ?? 'none'), why: why === undefined ? undefined : String(why), progress };
}

async function jobsOf(qmp: Performer['qmp']): Promise<Map<string, JsonObject>> {
  const jobs = await qmp.execute('query-jobs');
  return new Map((Array.isArray(jobs) ? jobs : []).filter(isObject).map((job) => [String(job['id']), job]));
}

async function sizesOf(qmp: Performer['qmp']): Promise<Map<string, number>> {
  const nodes = await qmp.execute('query-named-block-nodes', { flat: true });
  return new Map(
    (Array.isArray(nodes) ? nodes : []).filter(isObject).map((node) => {
      const image = isObject(node['image']) ? node['image'] : {};
      return [String(node['node-name']), numberIn(image['virtual-size'])];
    }),
  );
}

function numberIn(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

type Wait = { readonly deadline: number; readonly what: string };

async function until<Found>(
  { clock, news }: Pick<Performer, 'clock' | 'news'>,
  { deadline, what }: Wait,
  find: () => Promise<Found | false>,
): Promise<Found> {
  for (;;) {
    const told = news?.();
    const found = await find();
    if (found !== false) return found;
    if (clock.steady() >= deadline) throw new Error(`${what} takes too long`);
    await clock.sleep(POLL_MS, told);
  }
}

function copyOf(disk: string): string {
  return `copy-${disk}`;
}

function jobOf(disk: string): string {
  return `move-${disk}`;
}
