/**
 * What is done to a running guest as a whole, and what of that excludes what. One table for all who begin something: virt-api, virt-controller and
 * virt-handler.
 *
 *   to begin       waits or is refused while the guest is
 *   move           suspended, dumped, backed up, or its file systems are frozen; moved by another migration, or not back from a move that failed
 *   suspension     moved, dumped, backed up, or its file systems are frozen: they would be in its memory, too
 *   memory dump    moved, suspended, frozen, or a backup of it has begun: of the two that nobody has begun, the dump is first
 *   backup         moved, suspended, dumped, frozen: at its end it would thaw what another has frozen
 *   hotplug        moved, suspended
 *   resize         moved, suspended, backed up
 *   snapshot       moved, suspended, dumped: what freezes the guest would stay behind, or reach a guest that stands still, and freeze it late
 *
 * Each of them stops the guest or has QEMU send its memory: of two at once one would let the guest run that stands still for the other. Pure.
 */
import { backingUpTo, backupRequestOf } from './backup.ts';
import { isMoving, type MigrationState } from './kinds/migration.ts';
import type { VirtualMachineInstance, VmiStatus } from './kinds/virtual-machine-instance.ts';
import { dumpingTo } from './memory-dump.ts';

export type GuestOperation = 'move' | 'suspension' | 'memory dump' | 'backup' | 'hotplug' | 'resize' | 'snapshot';
type Seen = Pick<VirtualMachineInstance, 'spec' | 'status'>;
type Busy = 'moved' | 'suspended' | 'dumped' | 'backed up' | 'in a backup' | 'frozen';
/** What keeps an operation from being begun, and in words. */
export type Hindrance = { readonly is: Busy; readonly why: string };

const BUSY: Readonly<Record<Busy, readonly [why: string, is: (vmi: Seen) => boolean]>> = {
  moved: ['the guest is being moved to another node, or called back', ({ status }) => isOnItsWay(status?.migrationState)],
  suspended: ['the machine is being suspended or resumed', ({ status }) => isSuspending(status?.suspension)],
  dumped: ['the memory of the guest is being dumped', (vmi) => dumpingTo(vmi) !== undefined],
  'backed up': ['the disks of the guest are being backed up', (vmi) => backingUpTo(vmi) !== undefined],
  'in a backup': [
    'the disks of the guest are being backed up',
    (vmi) => backingUpTo(vmi) !== undefined && backupRequestOf(vmi)?.startTimestamp !== undefined,
  ],
  frozen: ['the file systems of the guest are frozen, as for a snapshot', ({ status }) => status?.fsFreezeStatus === 'frozen'],
};

const EXCLUDED_BY: Readonly<Record<GuestOperation, readonly Busy[]>> = {
  move: ['suspended', 'dumped', 'backed up', 'frozen', 'moved'],
  suspension: ['moved', 'dumped', 'backed up', 'frozen'],
  'memory dump': ['moved', 'suspended', 'in a backup', 'frozen'],
  backup: ['moved', 'suspended', 'dumped', 'frozen'],
  hotplug: ['moved', 'suspended'],
  resize: ['moved', 'suspended', 'backed up'],
  snapshot: ['moved', 'suspended', 'dumped'],
};

/** Why this cannot be begun now; undefined when it can. */
export function hindranceOf(operation: GuestOperation, vmi: Seen): Hindrance | undefined {
  const is = EXCLUDED_BY[operation].find((each) => BUSY[each][1](vmi));
  return is && { is, why: BUSY[is][0] };
}

/** The two nodes were told of a move, and the guest is not let go on yet, on either of them. */
export function isOnItsWay(state: MigrationState | undefined): boolean {
  return isMoving(state) || isComingBack(state) || (state?.completed === true && state.targetNodeDomainReadyTimestamp === undefined);
}

/** A move was begun and has failed, and its source has not said yet that the guest is back: it may stand still for it. */
export function isComingBack(state: MigrationState | undefined): boolean {
  return state?.failed === true && state.startTimestamp !== undefined && state.sourceNodeDomainReadyTimestamp === undefined;
}

/** One that failed is over when the guest runs on. */
function isSuspending(suspension: VmiStatus['suspension']): boolean {
  return suspension !== undefined && !(suspension.phase === 'Failed' && suspension.startTimestamp === undefined);
}
