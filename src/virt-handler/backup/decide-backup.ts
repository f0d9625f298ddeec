/**
 * A backup of a guest's disks, from the moment when the Pod that writes it is there. First match wins.
 *
 *   what is asked for   what is seen                                   what follows
 *   not begun           nobody wants it any more                       failed
 *   not begun           the instance is ending                         failed
 *   not begun           none of its disks is on a PVC                  failed
 *   not begun           the guest is moved, suspended or dumped        wait
 *   not begun           its Pod is there, the guest runs or is paused  write when it began, then begin
 *   begun               being made, nobody wants it, or it is ending   end it, again every 5 s
 *   begun               being made                                     wait
 *   begun               all of it is on the PVC                        completed, with what it has become
 *   begun               QEMU is gone                                   failed, with the reason
 *   begun               QEMU was cleared of what is left of it         the same: could not be made, or by a virt-handler that is gone
 *   begun               anything else                                  clear QEMU of it, again every 5 s, when it can be asked
 *
 * The write comes first: whoever finds it without the command knows that a virt-handler was killed. A checkpoint of a backup that failed is not kept, and the
 * one before stays as it was: the next backup is right. It is over when QEMU has nothing of it any more: until then nobody moves, saves or dumps the guest, and
 * what clears QEMU lets none run that stands still for something else. Pure.
 */
import { type BackupRequest, backupRequestOf, isRequestOver } from '../../api/kubevirt/backup.ts';
import { vmiIs } from '../../api/kubevirt/condition-reasons.ts';
import { isOnItsWay } from '../../api/kubevirt/exclusive-operations.ts';
import type { VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { timestamp } from '../../base/timestamp.ts';
import { backupDisksOf } from '../../qemu/convert/backup-disks.ts';
import { beginHindranceOf } from '../migration/begin-hindrance.ts';
import type { DomainAction } from '../vmi/domain-action.ts';
import type { BackupOrder, CommandState } from '../vmi/domain-command.ts';
import { mustStop, type ObservedDomain } from '../vmi/observed.ts';
import { isBackedUpGuest } from './backed-up-guest.ts';

type Seen = ObservedDomain & { readonly request: BackupRequest; readonly command: CommandState | undefined };
type Plan = { readonly actions: readonly DomainAction[]; readonly lookAgainAfterMs?: number };
type Outcome = Partial<Plan> & { readonly change?: BackupRequest; readonly isTracked?: boolean };
type Rule = readonly [isBegun: boolean, when: (seen: Seen) => boolean, then: (seen: Seen) => Outcome];

/** QEMU may fail to do what it is asked, and what is to be ended may not have come far enough. */
const AGAIN_MS = 5_000;
const END = 'end-backup';
const STOPPING = 'the instance is being stopped';
const UNWANTED = 'nobody wants the backup any more';
const RESTARTED = 'virt-handler was restarted while the disks were backed up';

const RULES: readonly Rule[] = [
  [false, ({ request }) => request.abort === true, () => failed(UNWANTED)],
  [false, mustStop, () => failed(STOPPING)],
  [false, ({ vmi }) => backupDisksOf(vmi.spec).length === 0, () => failed('none of the disks that the guest writes to is on a PVC')],
  [false, canBegin, begin],
  [true, (seen) => isRunning(seen) && whyEnd(seen) !== undefined, end],
  [true, isRunning, () => ({})],
  [true, isMade, complete],
  [true, isCleared, (seen) => failed(whyFailed(seen))],
  [true, () => true, clear],
];

/** The tracking of changed blocks as it is to be told; nothing where that does not change. */
export function backupStatus(observed: ObservedDomain): Pick<VmiStatus, 'changedBlockTracking'> {
  const tracking = observed.vmi.status?.changedBlockTracking;
  const { change, isTracked = false } = outcomeOf(observed);
  if (!tracking || !change) return {};
  const isOver = isRequestOver(change);
  const backupStatus = { ...tracking.backupStatus, ...change, ...(isOver && { endTimestamp: timestamp(observed.now) }) };
  return { changedBlockTracking: { state: isTracked ? 'Enabled' : tracking.state, backupStatus } };
}

/** What to do, after that is written. */
export function decideBackup(observed: ObservedDomain): Plan {
  const { actions = [], lookAgainAfterMs } = outcomeOf(observed);
  return { actions, ...(lookAgainAfterMs !== undefined && { lookAgainAfterMs }) };
}

function outcomeOf(observed: ObservedDomain): Outcome {
  const { vmi, domain } = observed;
  const request = backupRequestOf(vmi);
  if (!request || isRequestOver(request) || vmi.status?.phase !== 'Running') return {};
  const seen = { ...observed, request, command: domain.commands[idOf(request)] };
  const isBegun = request.startTimestamp !== undefined;
  return RULES.find(([whether, when]) => whether === isBegun && when(seen))?.[2](seen) ?? {};
}

function idOf({ backupUID }: BackupRequest): string {
  return `backup ${backupUID}`;
}

function isRunning({ command }: Seen): boolean {
  return command?.is === 'running';
}

function canBegin(seen: Seen): boolean {
  const { domain, request } = seen;
  const isUp = domain.state === 'running' || domain.state === 'paused';
  return isUp && domain.isConnected && !domain.isGone && !beginHindranceOf('backup', seen) && request.podUID !== undefined;
}

function begin(seen: Seen): Outcome {
  const { vmi, agent, domain, request, now } = seen;
  const disks = backupDisksOf(vmi.spec);
  const runs = domain.state === 'running';
  const order: BackupOrder = {
    podUid: request.podUID ?? '',
    folder: request.folder ?? '',
    disks,
    checkpoint: request.checkpointName,
    base: request.baseCheckpoint,
    kept: request.keptCheckpoints ?? [],
    isQuiesced: runs && request.skipQuiesce !== true && agent?.state === 'connected',
    runs,
  };
  const targets = new Map((vmi.status?.volumeStatus ?? []).map(({ name, target }) => [name, target]));
  return {
    change: {
      startTimestamp: timestamp(now),
      volumes: disks.map(({ volume }) => ({ volumeName: volume, diskTarget: targets.get(volume) ?? '' })),
    },
    actions: [{ do: 'command', id: idOf(request), command: { name: 'backup', order }, because: 'its disks are to be backed up' }],
  };
}

function whyEnd(seen: Seen): string | undefined {
  if (seen.request.abort === true) return UNWANTED;
  return mustStop(seen) ? STOPPING : undefined;
}

function end(seen: Seen): Outcome {
  const why = whyEnd(seen) ?? UNWANTED;
  const command = { name: END, podUid: seen.request.podUID ?? '', why } as const;
  return giveAgain(seen, END, { do: 'command', id: END, command, because: why });
}

function isMade({ command }: Seen): boolean {
  return command?.is === 'done' && isBackedUpGuest(command.result);
}

function complete({ command, request }: Seen): Outcome {
  const result = command?.is === 'done' ? command.result : undefined;
  if (!isBackedUpGuest(result)) return {};
  const { type, bytes, quiesceStatus } = result;
  const isFullInstead = type === 'Full' && request.baseCheckpoint !== undefined;
  const why = `a full one: QEMU does not know checkpoint ${request.baseCheckpoint} for all disks, as after a start, a move or with other disks`;
  return {
    change: { completed: true, type, bytes, quiesceStatus, ...(isFullInstead && { backupMsg: why }) },
    isTracked: request.checkpointName !== undefined,
  };
}

/** With QEMU goes what is left in it. */
function isCleared({ domain, request }: Seen): boolean {
  return domain.isGone || domain.commands[clearId(request)]?.is === 'done';
}

function whyFailed({ command }: Seen): string {
  if (command === undefined) return RESTARTED;
  return command.is === 'failed' ? command.reason : 'nobody said what was backed up';
}

function failed(backupMsg: string): Outcome {
  return { change: { failed: true, backupMsg } };
}

/** A guest that nobody has paused runs on, but for one that stands still to be moved. */
function clear(seen: Seen): Outcome {
  const { vmi, request, domain } = seen;
  if (!domain.isConnected || domain.state === 'unresponsive') return {};
  const runs = !vmiIs(vmi, 'Paused') && !isOnItsWay(vmi.status?.migrationState);
  const command = { name: 'clear-backup', kept: request.keptCheckpoints ?? [], runs } as const;
  const id = clearId(request);
  return giveAgain(seen, id, { do: 'command', id, command, because: 'its backup has failed' });
}

/** Of this backup: that QEMU was cleared of another says nothing. */
function clearId({ backupUID }: BackupRequest): string {
  return `clear backup ${backupUID}`;
}

function giveAgain({ domain, now, command }: Seen, id: string, action: DomainAction): Outcome {
  const last = domain.commands[id];
  if (last?.is === 'running') return {};
  const isOfThis = last !== undefined && last.givenAt >= (command?.givenAt ?? 0);
  const waitMs = isOfThis ? last.givenAt + AGAIN_MS - now : 0;
  return waitMs > 0 ? { actions: [], lookAgainAfterMs: waitMs } : { actions: [action], lookAgainAfterMs: AGAIN_MS };
}
