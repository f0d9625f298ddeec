/**
 * Which action is possible in which state, and if not, why not: written once, for server, command line and web page.
 *
 *   start      not while an instance runs or stops, nor while a restore changes the machine; not for Always and Once (they start by themselves); not for RerunOnFailure after a failure
 *   stop       any time for Always and Once; else only while there is an instance; for Halted only to cut a shutdown short
 *              not for a VM that an OfflineVirtualMachine keeps: that one holds the wish
 *   restart    only while there is an instance; not for Halted and Once
 *   migrate    only while the instance runs, can be moved, and is not being moved
 *   suspend    only while the instance runs, is not paused, moved or snapshotted, nobody has asked for a move, and all of it can be kept (suspendable.ts)
 *   resume     only while the machine is suspended; start is the same then, whatever the run strategy, and stop throws away what was saved;
 *              none of them while a snapshot of that is taken
 *   memorydump  only while the instance runs, is not moved or suspended, and no other dump is being made, or let go of
 *   removememorydump  only when there is a dump, of a machine in any state
 *   console    only while the instance runs and has a serial console
 *   vnc, vnc/screenshot  only while the instance runs and has a screen
 *   portforward  only while the instance runs, is not paused and has a network card
 *   pause, unpause, softreboot  only while the instance runs, and only when they change something; none of them while it is moved, nor freeze and reset;
 *              pause not while it stops
 *   guestosinfo, userlist, filesystemlist, freeze, unfreeze, exec  only while the instance runs and its agent is connected
 *   anything else of an instance  only while it runs
 *
 * Rules of one action are tried from the top, the first that applies is the answer, in the words that clients of KubeVirt look for. Pure.
 */

import type { StatusReason } from '../../base/errors.ts';
import type { GuestSubresourceName } from '../handler/routes.ts';
import { controllerOf, isDeleting } from '../meta.ts';
import { backingUpTo } from './backup.ts';
import { vmIs, vmiCondition, vmiIs } from './condition-reasons.ts';
import { isComingBack, isOnItsWay } from './exclusive-operations.ts';
import { endsWhenPaused } from './guest-probe.ts';
import { type RunStrategy, runStrategyOf, type VirtualMachine } from './kinds/virtual-machine.ts';
import { gracePeriodSecondsOf, isFinal, type VirtualMachineInstance } from './kinds/virtual-machine-instance.ts';
import { dumpEntryOf, dumpingTo } from './memory-dump.ts';
import { whyNotSuspendable } from './suspendable.ts';

export type VmAction = 'start' | 'stop' | 'restart' | 'migrate' | 'suspend' | 'resume' | 'memorydump' | 'removememorydump';
/** What virt-handler does for a guest. */
export type VmiAction = GuestSubresourceName;

/** A machine, its instance, and what the action was asked for with. */
export type VmSituation = {
  readonly vm: VirtualMachine;
  readonly vmi?: VirtualMachineInstance;
  /** start: begin with the processors stopped. */
  readonly isPaused?: boolean;
  /** stop: how long the guest may take. */
  readonly gracePeriodSeconds?: number;
  /** start: throw away the memory that was saved, and boot. */
  readonly isDiscarding?: boolean;
  /** memorydump: the PVC; that of the last dump when not given. */
  readonly claimName?: string;
  /** suspend: a migration of the instance that is not over; only the server knows it. */
  readonly migration?: string | undefined;
};

export type Refusal = { readonly reason: StatusReason; readonly message: string };
type Rule<Seen> = readonly [reason: StatusReason, message: string | ((seen: Seen) => string), applies: (seen: Seen) => boolean];

/** Its memory is being saved: what is changed now would be in neither. */
const SUSPENDING: Rule<VmSituation> = ['Conflict', 'VM is being suspended', ({ vm }) => vm.status?.suspension?.phase === 'Suspending'];

/** What is kept of a suspended machine is of the moment at which it was: until that is over, its guest stands still. */
const KEPT_NOW: Rule<VmSituation> = [
  'Conflict',
  ({ vm }) => `VirtualMachineSnapshot ${vm.status?.snapshotInProgress} keeps the memory of the VM: wait until it is taken`,
  ({ vm }) => isSuspended(vm) && Boolean(vm.status?.snapshotInProgress),
];

const VM_RULES: Readonly<Record<VmAction, readonly Rule<VmSituation>[]>> = {
  start: [
    ['Conflict', 'VM is being deleted', ({ vm }) => isDeleting(vm)],
    [
      'Conflict',
      'VM is stopping: it can be started again as soon as it has stopped',
      ({ vmi }) => vmi !== undefined && isDeleting(vmi) && isStarted(vmi),
    ],
    ['Conflict', 'VM is already running', ({ vmi }) => vmi !== undefined && isStarted(vmi)],
    [
      'Conflict',
      ({ vm }) => `VM cannot be started while VirtualMachineRestore ${vm.status?.restoreInProgress} changes it`,
      ({ vm }) => Boolean(vm.status?.restoreInProgress),
    ],
    KEPT_NOW,
    ['Conflict', 'VM has no saved memory to discard', ({ vm, isDiscarding = false }) => isDiscarding && !isSuspended(vm)],
    ['Conflict', 'VM is about to resume already', ({ vm }) => isOnItsWayUp(vm)],
    ['Conflict', 'VM needs manual recovery', ({ vm }) => vmIs(vm, 'ManualRecoveryRequired')],
    [
      'Conflict',
      ({ vm }) => `${runStrategyOf(vm)} does not support manual start requests`,
      (seen) => hasStrategy('Always', 'Once')(seen) && !isSuspended(seen.vm),
    ],
    ['Conflict', 'RerunOnFailure does not support starting VM from failed state', isRerunAfterFailure],
    ['InternalError', 'stop/start already underway', (seen) => hasPendingRequests(seen) && !startsBySpec(seen)],
  ],
  stop: [
    [
      'Conflict',
      ({ vm }) => `OfflineVirtualMachine ${controllerOf(vm)?.name} keeps it running; stop that`,
      ({ vm }) => controllerOf(vm)?.kind === 'OfflineVirtualMachine',
    ],
    KEPT_NOW,
    [
      'Conflict',
      'VM is not running',
      (seen) => hasStrategy('Halted', 'Manual', 'RerunOnFailure')(seen) && !isThere(seen) && !isSuspended(seen.vm),
    ],
    [
      'Conflict',
      'Halted only supports manual stop requests with a shorter graceperiod',
      (seen) => hasStrategy('Halted')(seen) && !isShorter(seen) && !isSuspended(seen.vm),
    ],
  ],
  restart: [
    ['Conflict', 'VM is being deleted', ({ vm }) => isDeleting(vm)],
    ['Conflict', 'volumes of the VM are being changed', ({ vm }) => vmIs(vm, 'VolumesChange')],
    ['Conflict', ({ vm }) => `${runStrategyOf(vm)} does not support manual restart requests`, hasStrategy('Halted', 'Once')],
    ['Conflict', 'VM is suspended: virtctl resume resumes it, virtctl start --discard boots it anew', ({ vm }) => isSuspended(vm)],
    ['Conflict', 'VM is not running', ({ vmi }) => vmi === undefined],
    ['InternalError', 'stop/start already underway', hasPendingRequests],
  ],
  migrate: [
    ['Conflict', 'VM is being deleted', ({ vm }) => isDeleting(vm)],
    ['Conflict', 'VM is not running', ({ vmi }) => vmi?.status?.phase !== 'Running' || isDeleting(vmi)],
    // After one that failed another may be asked for at once: it waits until the guest is back.
    ['Conflict', 'VM is being migrated already', ({ vmi }) => isBeingMoved(vmi) && !isComingBack(vmi?.status?.migrationState)],
    SUSPENDING,
    ['Conflict', ({ vmi }) => whyItStays(vmi), ({ vmi }) => vmiCondition(vmi, 'LiveMigratable')?.status === 'False'],
  ],
  suspend: [
    ['Conflict', 'VM is being deleted', ({ vm }) => isDeleting(vm)],
    ['Conflict', 'VM is suspended already', ({ vm }) => isSuspended(vm)],
    ['Conflict', 'VM is not running', ({ vmi }) => vmi?.status?.phase !== 'Running' || isDeleting(vmi)],
    SUSPENDING,
    ['Conflict', 'VM is paused: unpause it first', ({ vmi }) => vmi !== undefined && isPaused(vmi)],
    ['Conflict', 'VM is being migrated', ({ vmi }) => isBeingMoved(vmi)],
    [
      'Conflict',
      ({ migration }) => `VM is about to be migrated by ${migration}: wait for that, or end it with virtctl migrate-cancel`,
      ({ migration }) => migration !== undefined,
    ],
    [
      'Conflict',
      ({ vm }) => `VirtualMachineSnapshot ${vm.status?.snapshotInProgress} is being taken of the VM`,
      ({ vm }) => Boolean(vm.status?.snapshotInProgress),
    ],
    ['Conflict', 'stop/start already underway', hasPendingRequests],
    [
      'Conflict',
      ({ vmi }) => (vmi && whyNotSuspendable(vmi)) ?? '',
      ({ vmi }) => vmi !== undefined && whyNotSuspendable(vmi) !== undefined,
    ],
  ],
  resume: [
    ['Conflict', 'VM is being deleted', ({ vm }) => isDeleting(vm)],
    [
      'Conflict',
      ({ vm }) => `VM cannot be resumed while VirtualMachineRestore ${vm.status?.restoreInProgress} changes it`,
      ({ vm }) => Boolean(vm.status?.restoreInProgress),
    ],
    KEPT_NOW,
    ['Conflict', 'VM is about to resume already', ({ vm }) => isOnItsWayUp(vm)],
    ['Conflict', 'VM is not suspended', ({ vm }) => !isSuspended(vm)],
  ],
  memorydump: [
    ['Conflict', 'VM is being deleted', ({ vm }) => isDeleting(vm)],
    ['Conflict', 'VM is not running', ({ vmi }) => vmi?.status?.phase !== 'Running' || isDeleting(vmi)],
    SUSPENDING,
    ['Conflict', 'VM is being migrated', ({ vmi }) => isBeingMoved(vmi)],
    ['Conflict', ({ vm }) => `PVC ${vm.status?.memoryDumpRequest?.claimName} of the last memory dump is being removed`, isLettingGo],
    [
      'Conflict',
      ({ vm, vmi }) => `memory dump to PVC ${vm.status?.memoryDumpRequest?.claimName ?? (vmi && dumpingTo(vmi))} is in progress`,
      ({ vm, vmi }) => isDumpUnderway(vm) || (vmi !== undefined && dumpingTo(vmi) !== undefined),
    ],
  ],
  removememorydump: [
    ['Conflict', 'VM has no memory dump', ({ vm }) => vm.status?.memoryDumpRequest === undefined],
    ['Conflict', 'the memory dump is being removed already', isLettingGo],
  ],
};

/** On its way a guest stands still and goes on by itself; a change of that would get lost. QEMU lets none go on that was reset while it stood still. */
const ON_ITS_WAY: Rule<VirtualMachineInstance> = ['Conflict', 'VMI is being migrated', isBeingMoved];
const BEING_SAVED: Rule<VirtualMachineInstance> = [
  'Conflict',
  'VMI is being suspended or resumed',
  ({ status }) => status?.suspension !== undefined && status.suspension.phase !== 'Failed',
];

/** At its end QEMU lets the guest run on: a pause meanwhile would get lost. */
const BEING_DUMPED: Rule<VirtualMachineInstance> = [
  'Conflict',
  'memory of the VMI is being dumped',
  (vmi) => dumpEntryOf(vmi)?.phase === 'MemoryDumpInProgress',
];

/** It stands still for a moment, and runs on by itself: a pause meanwhile would get lost. */
const BEING_BACKED_UP: Rule<VirtualMachineInstance> = [
  'Conflict',
  'disks of the VMI are being backed up',
  (vmi) => backingUpTo(vmi) !== undefined,
];

const NOT_RUNNING: Rule<VirtualMachineInstance> = [
  'Conflict',
  (vmi) => `VMI is not running but ${vmi.status?.phase ?? 'Pending'}`,
  (vmi) => vmi.status?.phase !== 'Running',
];

/** Upstream answers these questions with 500 where others are a conflict. */
const AGENT_QUESTION: readonly Rule<VirtualMachineInstance>[] = [
  ['InternalError', (vmi) => `VMI is not running but ${vmi.status?.phase ?? 'Pending'}`, (vmi) => vmi.status?.phase !== 'Running'],
  ['InternalError', 'VMI does not have guest agent connected', (vmi) => !hasAgent(vmi)],
];

/** What is not here is possible while the instance runs. */
const VMI_RULES: Readonly<Partial<Record<VmiAction, readonly Rule<VirtualMachineInstance>[]>>> = {
  console: [
    ['BadRequest', 'No serial consoles are present.', (vmi) => vmi.spec.domain.devices.autoattachSerialConsole === false],
    ['Conflict', 'VMI has failed', (vmi) => vmi.status?.phase === 'Failed'],
    ['BadRequest', (vmi) => `VMI is not running but ${vmi.status?.phase ?? 'Pending'}`, (vmi) => vmi.status?.phase !== 'Running'],
  ],
  vnc: [
    ['BadRequest', 'No graphics devices are present.', (vmi) => vmi.spec.domain.devices.autoattachGraphicsDevice === false],
    ['BadRequest', (vmi) => `VMI is not running but ${vmi.status?.phase ?? 'Pending'}`, (vmi) => vmi.status?.phase !== 'Running'],
  ],
  // Upstream answers with 500 whatever keeps it from the screen.
  'vnc/screenshot': [
    ['InternalError', 'No graphics devices are present.', (vmi) => vmi.spec.domain.devices.autoattachGraphicsDevice === false],
    ['InternalError', (vmi) => `VMI is not running but ${vmi.status?.phase ?? 'Pending'}`, (vmi) => vmi.status?.phase !== 'Running'],
  ],
  portforward: [
    ['BadRequest', (vmi) => `VMI is not running but ${vmi.status?.phase ?? 'Pending'}`, (vmi) => vmi.status?.phase !== 'Running'],
    ['Conflict', 'VMI is paused', (vmi) => vmiIs(vmi, 'Paused')],
    ['BadRequest', 'VMI has no network interface', (vmi) => !vmi.status?.interfaces?.length],
  ],
  pause: [
    NOT_RUNNING,
    // It could not power off any more, and would be cut off at the end of its grace period.
    ['Conflict', 'VMI is stopping', isDeleting],
    ON_ITS_WAY,
    BEING_SAVED,
    BEING_DUMPED,
    BEING_BACKED_UP,
    ['Forbidden', 'VMI has a liveness probe, which fails while it is paused, and would be ended', endsWhenPaused],
    ['Conflict', 'VMI is already paused', isPaused],
  ],
  unpause: [
    NOT_RUNNING,
    ON_ITS_WAY,
    BEING_SAVED,
    BEING_DUMPED,
    BEING_BACKED_UP,
    ['Conflict', 'VMI is not paused', (vmi) => !isPaused(vmi)],
  ],
  reset: [NOT_RUNNING, ON_ITS_WAY],
  softreboot: [
    NOT_RUNNING,
    ON_ITS_WAY,
    ['Conflict', 'VMI is paused', isPaused],
    ['Conflict', 'VMI neither have the agent connected nor the ACPI feature enabled', (vmi) => !hasAgent(vmi) && !hasAcpi(vmi)],
  ],
  guestosinfo: AGENT_QUESTION,
  userlist: AGENT_QUESTION,
  filesystemlist: AGENT_QUESTION,
  freeze: [
    NOT_RUNNING,
    ON_ITS_WAY,
    BEING_SAVED,
    BEING_DUMPED,
    ['InternalError', 'VMI does not have guest agent connected', (vmi) => !hasAgent(vmi)],
  ],
  unfreeze: [NOT_RUNNING, ['InternalError', 'VMI does not have guest agent connected', (vmi) => !hasAgent(vmi)]],
  exec: [
    NOT_RUNNING,
    ['Conflict', 'VMI is paused', isPaused],
    ['Conflict', 'VMI does not have guest agent connected', (vmi) => !hasAgent(vmi)],
  ],
};

/** Why this cannot be done to the machine now; undefined when it can. */
export function refusalOf(action: VmAction, situation: VmSituation): Refusal | undefined {
  return firstThatApplies(VM_RULES[action], situation);
}

/** Why this cannot be done to the instance now; undefined when it can. */
export function vmiRefusalOf(action: VmiAction, vmi: VirtualMachineInstance): Refusal | undefined {
  return firstThatApplies(VMI_RULES[action] ?? [NOT_RUNNING], vmi);
}

/** True when a start is a change of the wish (spec) and not a request (status). */
export function startsBySpec({ vm, isPaused = false }: VmSituation): boolean {
  return runStrategyOf(vm) === 'Halted' && !isPaused;
}

/** Its memory is on a PVC. */
export function isSuspended({ status }: VirtualMachine): boolean {
  return status?.suspension?.phase === 'Suspended';
}

function isLettingGo({ vm }: VmSituation): boolean {
  const { remove, phase } = vm.status?.memoryDumpRequest ?? {};
  return remove === true || phase === 'Dissociating';
}

function isDumpUnderway({ status }: VirtualMachine): boolean {
  const { phase } = status?.memoryDumpRequest ?? {};
  return phase === 'Associating' || phase === 'InProgress' || phase === 'Unmounting';
}

function isOnItsWayUp({ status }: VirtualMachine): boolean {
  return status?.suspension?.phase === 'Resuming' || status?.suspension?.phase === 'Discarding';
}

function firstThatApplies<Seen>(rules: readonly Rule<Seen>[], seen: Seen): Refusal | undefined {
  const found = rules.find(([, , applies]) => applies(seen));
  if (!found) return undefined;
  const [reason, message] = found;
  return { reason, message: typeof message === 'string' ? message : message(seen) };
}

function hasStrategy(...strategies: readonly RunStrategy[]): (seen: VmSituation) => boolean {
  return ({ vm }) => strategies.includes(runStrategyOf(vm));
}

/** An instance without a phase was made a moment ago and one in Unknown may be lost: neither keeps a start from being asked for. */
function isStarted(vmi: VirtualMachineInstance): boolean {
  const phase = vmi.status?.phase ?? 'Unknown';
  return !isFinal(vmi) && phase !== 'Unknown';
}

function isRerunAfterFailure({ vm, vmi }: VmSituation): boolean {
  return runStrategyOf(vm) === 'RerunOnFailure' && vmi?.status?.phase === 'Failed';
}

function isPaused(vmi: VirtualMachineInstance): boolean {
  return vmiIs(vmi, 'Paused');
}

function isBeingMoved(vmi: VirtualMachineInstance | undefined): boolean {
  return isOnItsWay(vmi?.status?.migrationState);
}

function whyItStays(vmi: VirtualMachineInstance | undefined): string {
  const { reason, message } = vmiCondition(vmi, 'LiveMigratable') ?? {};
  return message ?? reason ?? 'VM cannot be moved';
}

function hasAcpi({ spec }: VirtualMachineInstance): boolean {
  return spec.domain.features?.acpi?.enabled !== false;
}

function hasAgent(vmi: VirtualMachineInstance): boolean {
  return vmiIs(vmi, 'AgentConnected');
}

function isThere({ vmi }: VmSituation): boolean {
  return vmi !== undefined && !isFinal(vmi);
}

function isShorter({ vmi, gracePeriodSeconds }: VmSituation): boolean {
  return vmi !== undefined && gracePeriodSeconds !== undefined && gracePeriodSeconds < gracePeriodSecondsOf(vmi);
}

/** Only the first request is ever looked at, so a second would wait for something that may never come. */
function hasPendingRequests({ vm }: VmSituation): boolean {
  return (vm.status?.stateChangeRequests ?? []).length > 0;
}
