/**
 * Copies the disks of a guest, as they are at one moment, to files that a Pod serves. For that moment the guest stands still, a few milliseconds: between it
 * and each disk comes a filter which from then on copies what the guest overwrites, before it does. What the disks were is read through the filter, and
 * copied while the guest runs: everything, or what has changed since a checkpoint. When the Pod goes, or its PVC is full, the filter gives the past up and
 * never fails a write of the guest.
 */
import { type BackupHead, exportNameOf } from '../../api/launcher/backup.ts';
import type { BackupOrder, OpenBackup, Quiesce } from '../vmi/domain-command.ts';
import type { Performer } from '../vmi/performer.ts';
import type { BackedUpGuest } from './backed-up-guest.ts';
import { backupJobs, clearBackup, devicePath } from './clear-backup.ts';
import { askNodes, backupNames, bitmapOf, type GuestNode, type Qmp } from './guest-nodes.ts';

const POLL_MS = 250;
/** A PVC that takes nothing for so long will not. */
const STUCK_MS = 120_000;
/** How long the guest may wait for the old content to be copied before a write. */
const GUEST_WAITS_SECONDS = 10;
/** A freeze that nobody ends, ends by itself. */
const FREEZE_MS = 60_000;
/** What was copied before the guest overwrote it, on the node that shows the past. */
const COPIED = 'copied';

type Maker = Pick<Performer, 'qmp' | 'clock' | 'backups' | 'quiesce'>;
type Disk = BackupOrder['disks'][number] & { readonly seen: GuestNode };

/** Resolves when all of it is on the PVC, under its name. */
export async function backupGuest(maker: Maker, { order }: { readonly order: BackupOrder }): Promise<BackedUpGuest> {
  const { qmp, backups } = maker;
  const { kept, runs, checkpoint } = order;
  if (!backups) throw new Error('nothing is backed up here');
  await clearBackup(maker, { kept, runs });
  const disks = await seenDisks(qmp, order.disks);
  const base = order.base !== undefined && disks.every(({ seen }) => seen.changedBytes.has(order.base ?? '')) ? order.base : undefined;
  const way = await backups.open(order.podUid, headOf(order, disks, base));
  try {
    for (const [index, { node }] of disks.entries()) await qmp.execute('blockdev-add', target(way, node, index));
    const quiesceStatus = await atOneMoment(maker, order, () => beginPast(qmp, { disks, base, checkpoint }));
    await Promise.race([copy(maker, disks, base), way.failed]);
    await clearBackup(maker, { kept: checkpoint === undefined ? kept : [...kept, checkpoint], runs });
    return { type: base === undefined ? 'Full' : 'Incremental', bytes: await way.finish(), quiesceStatus };
  } catch (error) {
    way.close(); // first: what QEMU still writes there ends at once
    await clearBackup(maker, { kept, runs }).catch(() => {}); // whoever hears that it failed has it done again
    throw error;
  } finally {
    way.close();
  }
}

async function seenDisks(qmp: Qmp, disks: BackupOrder['disks']): Promise<Disk[]> {
  const nodes = await askNodes(qmp);
  return disks.map((disk) => {
    const seen = nodes.get(disk.node);
    if (!seen) throw new Error(`QEMU does not have the disk of volume ${disk.volume}`);
    return { ...disk, seen };
  });
}

function headOf({ folder }: BackupOrder, disks: readonly Disk[], base: string | undefined): BackupHead {
  const bytesOf = ({ seen }: Disk) => (base === undefined ? seen.usedBytes : (seen.changedBytes.get(base) ?? 0));
  return {
    folder,
    ...(base !== undefined && { base }),
    bytes: disks.reduce((sum, disk) => sum + bytesOf(disk), 0),
    disks: disks.map(({ volume, seen }) => ({ volume, bytes: seen.bytes })),
  };
}

/** A connection that breaks is not tried again: whoever waits for it is the guest. */
function target({ socket }: OpenBackup, node: string, index: number): object {
  return {
    driver: 'nbd',
    'node-name': backupNames(node).target,
    server: { type: 'unix', path: socket },
    export: exportNameOf(index),
    'reconnect-delay': 0,
    discard: 'unmap',
  };
}

/** The guest stands still while this is done, and its file systems are frozen if its agent can. */
async function atOneMoment(
  { qmp, quiesce }: Maker,
  { isQuiesced, runs }: BackupOrder,
  begin: () => Promise<void>,
): Promise<BackedUpGuest['quiesceStatus']> {
  const quiesceStatus = isQuiesced && quiesce ? await frozen(quiesce) : 'Skipped';
  try {
    if (runs) await qmp.execute('stop');
    try {
      await begin();
    } finally {
      if (runs) await qmp.execute('cont');
    }
  } finally {
    // One that cannot be thawed now is thawed when its time is over.
    if (quiesceStatus === 'Succeeded') await quiesce?.thaw().catch(() => {});
  }
  return quiesceStatus;
}

async function frozen(quiesce: Quiesce): Promise<'Succeeded' | 'Failed'> {
  try {
    await quiesce.freeze(FREEZE_MS);
    return 'Succeeded';
  } catch {
    return 'Failed'; // as after a power failure, then; the status says so
  }
}

type Past = { readonly disks: readonly Disk[]; readonly base: string | undefined; readonly checkpoint: string | undefined };

async function beginPast(qmp: Qmp, { disks, base, checkpoint }: Past): Promise<void> {
  if (checkpoint !== undefined) {
    const actions = disks.map(({ node }) => ({ type: 'block-dirty-bitmap-add', data: { node, name: bitmapOf(checkpoint) } }));
    await qmp.execute('transaction', { actions });
  }
  for (const { node, device } of disks) {
    const { filter, past, target: to } = backupNames(node);
    const changed = base === undefined ? undefined : { node, name: bitmapOf(base) };
    await qmp.execute('blockdev-add', {
      ...{ driver: 'copy-before-write', 'node-name': filter, file: node, target: to },
      ...{ 'on-cbw-error': 'break-snapshot', 'cbw-timeout': GUEST_WAITS_SECONDS },
      ...(changed && { bitmap: changed }),
    });
    await qmp.execute('qom-set', { path: devicePath(device), property: 'drive', value: filter });
    await qmp.execute('blockdev-add', { driver: 'snapshot-access', 'node-name': past, file: filter });
    if (!changed) continue;
    // A copy: the bitmap itself goes on, so that a backup which fails has changed nothing.
    await qmp.execute('block-dirty-bitmap-add', { node: past, name: COPIED, disabled: true });
    await qmp.execute('block-dirty-bitmap-merge', { node: past, target: COPIED, bitmaps: [changed] });
  }
}

/** Resolves when everything is copied. All of the jobs end well, or none. */
async function copy({ qmp, clock }: Maker, disks: readonly Disk[], base: string | undefined): Promise<void> {
  const what = base === undefined ? { sync: 'full' } : { sync: 'bitmap', bitmap: COPIED, 'bitmap-mode': 'never' };
  const actions = disks.map(({ node }) => {
    const { job, past, target: to } = backupNames(node);
    return { type: 'blockdev-backup', data: { 'job-id': job, device: past, target: to, ...what, 'auto-dismiss': false } };
  });
  await qmp.execute('transaction', { actions, properties: { 'completion-mode': 'grouped' } });
  let [last, since] = [-1, clock.steady()];
  for (;;) {
    const jobs = await backupJobs(qmp);
    const errors = jobs.flatMap(({ error }) => (typeof error === 'string' ? [error] : []));
    const areOver = jobs.every(({ status }) => status === 'concluded');
    if (areOver && errors.length > 0) throw new Error(whyFailed(errors));
    if (areOver && jobs.length === disks.length) return;
    if (areOver) throw new Error('QEMU has lost the copies of its disks');
    const copied = jobs.reduce((sum, job) => sum + Number(job['current-progress'] ?? 0), 0);
    if (copied !== last) [last, since] = [copied, clock.steady()];
    if (clock.steady() - since >= STUCK_MS) throw new Error(`nothing was written for ${STUCK_MS / 1000} s`);
    await clock.sleep(POLL_MS);
  }
}

/** Of those that were cancelled because another failed nothing is to be told; one whose past was given up says that it may not be read. */
function whyFailed(errors: readonly string[]): string {
  const [first = 'nobody said why'] = errors.filter((error) => !/cancel/i.test(error));
  return /permission denied/i.test(first)
    ? 'what the guest overwrote could not be copied in time: the PVC is full or too slow, or its Pod has ended'
    : first;
}
