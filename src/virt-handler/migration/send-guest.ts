/**
 * The source of a move: QEMU copies the disks that are on its node alone, then the memory, stops the guest, copies the rest of both, and lets
 * go. Until the last answer of the target is there the guest can be had back here, and is: whatever fails, what was begun is undone, and QEMU
 * lets the guest run on by itself. After it the guest stands still on both sides, and whoever decides says where it goes on.
 */
import { OUTGOING_SOCKETS } from '../../api/launcher/files.ts';
import type { Clock } from '../../base/clock.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import type { DomainCommand } from '../vmi/domain-command.ts';
import type { Performer } from '../vmi/performer.ts';

type Send = Extract<DomainCommand, { name: 'send' }>;
type Sender = Pick<Performer, 'qmp' | 'clock' | 'report'>;

/** Short: at the end of a move the guest stands still while nobody looks. */
const POLL_MS = 20;
/** How long QEMU may take to undo what it began. */
const UNDO_MS = 30_000;
/** How long the guest may stand still at the end: less than a person notices. */
const DOWNTIME_MS = 300;
/** A tunnel takes what it is given; without a limit QEMU would promise a stop that is too short. */
const BYTES_PER_SECOND = 2 ** 30;
/** The longest that the guest stands still before it is had back. */
const SWITCH_MS = 60_000;

/** The capabilities that both sides have to agree on: the source hears whether the target could load the guest, and nothing is handed over unasked. */
export const MOVE_CAPABILITIES = ['events', 'return-path', 'pause-before-switchover'].map((capability) => ({ capability, state: true }));

/** Resolves when the guest is in the other QEMU, and stands still in both. */
export async function sendGuest(performer: Performer, { disks, to, timeoutMs }: Send): Promise<void> {
  const { qmp, clock, openWay } = performer;
  const way = await openWay(to);
  const deadline = clock.steady() + timeoutMs;
  try {
    await callBack(performer, { disks }); // what is left of a move that was cut off
    await qmp.execute('migrate-set-capabilities', { capabilities: MOVE_CAPABILITIES });
    for (const disk of disks) await beginCopy(performer, disk);
    await until(clock, { deadline, what: 'the copy of its disks' }, () => areCopied(performer, disks));
    await qmp.execute('migrate-set-parameters', { 'max-bandwidth': BYTES_PER_SECOND, 'downtime-limit': DOWNTIME_MS });
    await qmp.execute('migrate', { uri: `unix:${OUTGOING_SOCKETS.memory}` });
    await until(clock, { deadline, what: 'the copy of its memory' }, () => isAt(performer, 'pre-switchover'));
    const switchBy = clock.steady() + SWITCH_MS;
    for (const disk of disks) await qmp.execute('block-job-cancel', { device: jobOf(disk) });
    await until(clock, { deadline: switchBy, what: 'the last of its disks' }, () => areFinished(performer, disks));
    await qmp.execute('migrate-continue', { state: 'pre-switchover' });
    await until(clock, { deadline: switchBy, what: 'the answer of the other node' }, () => isAt(performer, 'completed'));
  } catch (error) {
    await callBack(performer, { disks }).catch(() => {}); // why it failed is worth more than what failed after it
    throw error;
  } finally {
    way.close();
  }
}

/** Undoes what was begun, as far as there is something; the guest runs on here unless it was sent already. */
export async function callBack({ qmp, clock }: Pick<Performer, 'qmp' | 'clock'>, { disks }: Pick<Send, 'disks'>): Promise<void> {
  const deadline = clock.steady() + UNDO_MS;
  await qmp.execute('migrate_cancel');
  await until(clock, { deadline, what: 'the end of a copy of its memory' }, async () => !BUSY.includes((await migrationOf(qmp)).status));
  for (const disk of disks) {
    if (!(await jobsOf(qmp)).has(jobOf(disk))) continue;
    await qmp.execute('block-job-cancel', { device: jobOf(disk), force: true }).catch(() => {}); // it may have ended
    await until(clock, { deadline, what: 'the end of a copy of a disk' }, async () => isConcluded((await jobsOf(qmp)).get(jobOf(disk))));
    await qmp.execute('job-dismiss', { id: jobOf(disk) });
  }
  for (const disk of disks) await qmp.execute('blockdev-del', { 'node-name': copyOf(disk) }).catch(() => {}); // it may never have been
}

/** All of the disk, what its image has included: the other node may have another image of the same name. */
async function beginCopy({ qmp }: Sender, disk: string): Promise<void> {
  const server = { type: 'unix', path: OUTGOING_SOCKETS.disks };
  await qmp.execute('blockdev-add', { driver: 'nbd', 'node-name': copyOf(disk), server, export: disk });
  const sizes = await sizesOf(qmp);
  if (sizes.get(disk) === undefined || sizes.get(disk) !== sizes.get(copyOf(disk)))
    throw new Error(`disk ${disk} has ${sizes.get(disk)} bytes here and ${sizes.get(copyOf(disk))} on the other node`);
  const target = copyOf(disk);
  await qmp.execute('blockdev-mirror', { 'job-id': jobOf(disk), device: disk, target, sync: 'full', 'auto-dismiss': false });
}

async function areCopied({ qmp }: Sender, disks: readonly string[]): Promise<boolean> {
  const jobs = await jobsOf(qmp);
  for (const disk of disks) failIfEnded(disk, jobs.get(jobOf(disk)));
  return disks.every((disk) => jobs.get(jobOf(disk))?.['status'] === 'ready');
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
async function isAt({ qmp, report }: Sender, wanted: 'pre-switchover' | 'completed'): Promise<boolean> {
  const { status, why, done, total } = await migrationOf(qmp);
  if (total > 0) report({ done, total });
  if (status === wanted) return true;
  if (BUSY.includes(status) && status !== 'cancelling') return false;
  throw new Error(`the copy of its memory is ${status}${why ? `: ${why}` : ''}`);
}

async function migrationOf(qmp: Performer['qmp']) {
  const answer = await qmp.execute('query-migrate');
  const { status, ram, 'error-desc': why } = isObject(answer) ? answer : {};
  const { transferred, total } = isObject(ram) ? ram : {};
  return {
    status: String(status ?? 'none'),
    why: why === undefined ? undefined : String(why),
    done: numberIn(transferred),
    total: numberIn(total),
  };
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

async function until(clock: Clock, { deadline, what }: Wait, isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) {
    if (clock.steady() >= deadline) throw new Error(`${what} takes too long`);
    await clock.sleep(POLL_MS);
  }
}

function copyOf(disk: string): string {
  return `copy-${disk}`;
}

function jobOf(disk: string): string {
  return `move-${disk}`;
}
