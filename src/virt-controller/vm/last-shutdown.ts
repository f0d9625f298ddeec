/**
 * The condition LastShutdown of a VM: when its last instance ended, why, and by whom. First match wins. Pure.
 *
 *   the instance                                   reason                     by
 *   was saved                                      Suspended                  whoever suspended it
 *   ended before it ran                            StartFailed                what virt-handler or the Pod said
 *   ended because its Pod was deleted or evicted   PodDeleted                 whoever drained the node
 *   powered off, nobody had asked                  GuestShutdown              the guest
 *   failed, nobody had asked                       what the instance says     the guest or its node
 *   was cut off at the end of its grace period     GracePeriodExpired         whoever asked for the end
 *   ended after somebody deleted it                InstanceDeleted            a user; the next instance follows
 *   ended after it was asked to                    Requested                  whoever asked for the end
 *
 * Ours, not KubeVirt's: an instance takes the story of its end with it, and people ask for it afterwards.
 */
import { type VmConditions, vmCondition } from '../../api/kubevirt/condition-reasons.ts';
import type { LastShutdownReason } from '../../api/kubevirt/ending-reasons.ts';
import { runStrategyOf } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { endingOf, isFinal, type VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { type Condition, isDeleting } from '../../api/meta.ts';
import { timestamp } from '../../base/timestamp.ts';
import { stopWasRequested } from './intent.ts';
import type { ObservedVm } from './observed.ts';
import { hasRun } from './start-failure.ts';

type Story = { readonly reason: LastShutdownReason; readonly message: string };

export const LAST_SHUTDOWN = 'LastShutdown' satisfies keyof VmConditions;
/** Ends after which somebody may still be waiting to see the instance gone. */
const WATCHED_ENDS: readonly LastShutdownReason[] = ['InstanceDeleted', 'GracePeriodExpired'];
/** Counted from a time stamp in whole seconds, so between a half and one and a half second. */
const VISIBLE_FOR_MS = 1_500;

/** What to say of an instance that has ended; undefined while there is none. */
export function lastShutdownOf(observed: ObservedVm): Condition | undefined {
  const { vmi, now } = observed;
  if (!vmi || !isFinal(vmi)) return undefined;
  const { phase, phaseTransitionTimestamps = [] } = vmi.status ?? {};
  const at = phaseTransitionTimestamps.find((stamp) => stamp.phase === phase)?.phaseTransitionTimestamp ?? timestamp(now);
  return { type: LAST_SHUTDOWN, status: 'True', ...storyOf(observed, vmi), lastTransitionTime: at };
}

/** How long to wait before the next instance, so that whoever deleted the last one can see that it is gone; 0 when nobody waits. */
export function pauseAfterDeletionMs({ vm, now }: ObservedVm): number {
  const last = vmCondition(vm, LAST_SHUTDOWN);
  if (!last || !WATCHED_ENDS.some((reason) => reason === last.reason)) return 0;
  const endedMs = Date.parse(last.lastTransitionTime ?? '');
  return Number.isNaN(endedMs) ? 0 : Math.max(0, endedMs + VISIBLE_FOR_MS - now);
}

function storyOf(observed: ObservedVm, vmi: VirtualMachineInstance): Story {
  const phase = vmi.status?.phase;
  const reason = endingOf(vmi);
  const who = whoAsked(observed, vmi);
  if (reason === 'Suspended') return { reason, message: 'The machine was suspended' };
  if (!hasRun(vmi)) return { reason: 'StartFailed', message: `The instance ended before its guest ran${reason ? ` (${reason})` : ''}` };
  if (!who && phase === 'Succeeded') return { reason: 'GuestShutdown', message: 'The guest powered itself off' };
  if (!who) return { reason: reason ?? 'GuestFailed', message: `The guest failed${reason ? ` (${reason})` : ''}` };
  if (reason === 'GracePeriodExpired') return { reason, message: `${who.message}; the guest did not power off in time and was cut off` };
  return who;
}

function whoAsked(observed: ObservedVm, vmi: VirtualMachineInstance): Story | undefined {
  if (isDeleting(observed.vm)) return { reason: 'Requested', message: 'The virtual machine is being deleted' };
  if (stopWasRequested(observed)) return { reason: 'Requested', message: 'A user asked for a stop or a restart' };
  if (!isDeleting(vmi)) return lostPod(vmi);
  if (runStrategyOf(observed.vm) === 'Halted') return { reason: 'Requested', message: 'A user stopped the virtual machine' };
  return { reason: 'InstanceDeleted', message: 'A user deleted the instance' };
}

/** Without a deletion of the instance, only that of its Pod makes virt-handler press the power button. */
function lostPod(vmi: VirtualMachineInstance): Story | undefined {
  const reason = endingOf(vmi);
  const isAsked = reason === 'PodDeleted' || reason === 'GracePeriodExpired';
  return isAsked ? { reason: 'PodDeleted', message: 'The Pod was deleted, or its node drained' } : undefined;
}
