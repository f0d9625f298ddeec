/**
 * A backup of a guest's disks, from the moment when the Pod that writes it is there. First match wins.
 *
 *   what is asked for   what is seen                                   what follows
 *   not begun           nobody wants it any more                       failed
 *   not begun           the instance is ending                         failed
 *   not begun           none of its disks is on a PVC                  failed
 *   not begun           its Pod is there, the guest runs or is paused  write when it began, then begin
 *   begun               by a virt-handler that is gone                 failed; take out of QEMU what is left of it
 *   begun               being made, nobody wants it, or it is ending   end it
 *   begun               being made                                     wait
 *   begun               could not be made                              failed, with the reason; the same
 *   begun               all of it is on the PVC                        completed, with what it has become
 *
 * The write comes first: whoever finds it without the command knows that a virt-handler was killed. A checkpoint of a backup that failed is not kept, and the
 * one before stays as it was: the next backup is right. Pure.
 */
import { type BackupRequest, backupRequestOf, isRequestOver } from '../../api/kubevirt/backup.ts';
import { vmiIs } from '../../api/kubevirt/condition-reasons.ts';
import type { VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { timestamp } from '../../base/timestamp.ts';
import { backupDisksOf } from '../../qemu/convert/backup-disks.ts';
import type { DomainAction } from '../vmi/domain-action.ts';
import type { BackupOrder, CommandState } from '../vmi/domain-command.ts';
import { mustStop, type ObservedDomain } from '../vmi/observed.ts';
import { isBackedUpGuest } from './backed-up-guest.ts';

type Seen = ObservedDomain & { readonly request: BackupRequest; readonly command: CommandState | undefined };
type Outcome = { readonly change?: BackupRequest; readonly isTracked?: boolean; readonly actions?: readonly DomainAction[] };
type Rule = readonly [isBegun: boolean, when: (seen: Seen) => boolean, then: (seen: Seen) => Outcome];

const END = 'end-backup';
const STOPPING = 'the instance is being stopped';
const UNWANTED = 'nobody wants the backup any more';
const RESTARTED = 'virt-handler was restarted while the disks were backed up';

const RULES: readonly Rule[] = [
  [false, ({ request }) => request.abort === true, () => failed(UNWANTED)],
  [false, mustStop, () => failed(STOPPING)],
  [false, ({ vmi }) => backupDisksOf(vmi.spec).length === 0, () => failed('none of the disks that the guest writes to is on a PVC')],
  [false, canBegin, begin],
  [true, ({ command }) => command === undefined, (seen) => ({ ...failed(RESTARTED), actions: clear(seen) })],
  [true, (seen) => isRunning(seen) && whyEnd(seen) !== undefined, end],
  [true, isRunning, () => ({})],
  [true, () => true, report],
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
export function decideBackup(observed: ObservedDomain): readonly DomainAction[] {
  return outcomeOf(observed).actions ?? [];
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

function canBegin({ domain, request }: Seen): boolean {
  const isUp = domain.state === 'running' || domain.state === 'paused';
  return isUp && domain.isConnected && !domain.isGone && request.podUID !== undefined;
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
  const last = seen.domain.commands[END];
  const isGiven = last !== undefined && last.givenAt >= (seen.command?.givenAt ?? 0);
  return isGiven ? {} : { actions: [{ do: 'command', id: END, command: { name: END, why }, because: why }] };
}

function report(seen: Seen): Outcome {
  const { command, request } = seen;
  if (command?.is === 'failed') return { ...failed(command.reason), actions: clear(seen) };
  if (command?.is !== 'done' || !isBackedUpGuest(command.result))
    return { ...failed('nobody said what was backed up'), actions: clear(seen) };
  const { type, bytes, quiesceStatus } = command.result;
  const isFullInstead = type === 'Full' && request.baseCheckpoint !== undefined;
  const why = `a full one: QEMU does not know checkpoint ${request.baseCheckpoint} for all disks, as after a start, a move or with other disks`;
  return {
    change: { completed: true, type, bytes, quiesceStatus, ...(isFullInstead && { backupMsg: why }) },
    isTracked: request.checkpointName !== undefined,
  };
}

function failed(backupMsg: string): Outcome {
  return { change: { failed: true, backupMsg } };
}

/** A guest that nobody has paused runs on. */
function clear({ vmi, request }: Seen): DomainAction[] {
  const command = { name: 'clear-backup', kept: request.keptCheckpoints ?? [], runs: !vmiIs(vmi, 'Paused') } as const;
  return [{ do: 'command', id: command.name, command, because: 'its backup has failed' }];
}
