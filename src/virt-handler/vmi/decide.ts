/**
 * What should happen to one VMI on this node, given its launcher Pod and what its QEMU says. First match wins.
 *
 *   what is seen                                      what follows
 *   VMI has left this node                            end the QEMU that its guest was sent from; forget it
 *   VMI is on its way here                            see migration/decide-target.ts
 *   its Pod is here, nobody listens to its guest      follow it: its sockets are in the folder of the Pod
 *   another guest of its name is listened to          forget that one
 *   VMI is final, QEMU is there                       quit; delete the Pod when it is still there after 30 s (3 s if it was cut off)
 *   VMI is not Scheduled yet                          leave it: the phases before are virt-controller's
 *   its memory is to be saved, or was                 see suspension/decide-suspension.ts
 *   Scheduled, the guest runs or has run              Running (Created, Started)
 *   guest panicked                                    Failed (GuestPanicked, Stopped)
 *   guest hung, its watchdog stopped it               Failed (GuestHung, Stopped)
 *   guest powered off                                 Succeeded (Stopped); with a reason when its Pod alone was deleted
 *   deletion, first seen                              the grace period begins
 *   QEMU is gone, deletion with grace period 0        Succeeded (Deleted)
 *   QEMU is gone, the grace period is over            Failed (Deleted)
 *   QEMU is gone                                      Failed (Warning Stopped)
 *   Scheduled, no QEMU for 3 min                      Failed (Warning Stopped), delete the Pod; 1 h while an image may have to be copied
 *   its guest is to go to another node, or was to     see migration/decide-source.ts
 *   its guest has come from another node              see migration/decide-arrival.ts
 *   its liveness probe says no, no deletion           Failed (Unhealthy, Stopped)
 *   deletion, grace period 0                          Succeeded (Deleted)
 *   deletion before the guest ran                     Failed (Deleted)
 *   deletion, the grace period is over                Failed (Deleted); delete the Pod when QEMU does not answer
 *   deletion, somebody paused the guest               cont: it cannot hear its power button
 *   deletion                                          system_powerdown at once and every 5 s (ShuttingDown)
 *   QEMU waits to start, nobody asked it to wait      cont
 *   volumes are to come or to go                      see hotplug/decide-hotplug.ts
 *   the PVC of a disk has grown                       see hotplug/decide-resize.ts
 *   its memory is to be dumped                        see memory-dump/decide-dump.ts; deletion ends a dump
 *   its disks are to be backed up                     see backup/decide-backup.ts; deletion ends a backup
 *   anything else                                     keep conditions and interfaces as they are seen
 *
 * Deletion is that of the VMI or of its Pod. A final phase is written first, and QEMU ended in the next pass: how a guest
 * ended is never lost.
 *
 * Pure: no clock, no I/O. `observe.ts` gathers the input; the loop performs the writes, `act.ts` everything else, in the order of the decision.
 */
import { isPodFinal, type Pod } from '../../api/core/pod.ts';
import { vmiCondition } from '../../api/kubevirt/condition-reasons.ts';
import { isOnItsWay } from '../../api/kubevirt/exclusive-operations.ts';
import { isMoving } from '../../api/kubevirt/kinds/migration.ts';
import { endingOf, gracePeriodSecondsOf, isFinal, type VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { COMPUTE_CONTAINER } from '../../api/launcher/compute.ts';
import { LAUNCHER_VARIABLES } from '../../api/launcher/variables.ts';
import { isDeleting, type KubeObject, refOf } from '../../api/meta.ts';
import { diffAsMergePatch } from '../../base/json.ts';
import type { Action, EventToRecord } from '../../reconcile/decision.ts';
import { decideBackup } from '../backup/decide-backup.ts';
import { decidePlugs } from '../hotplug/decide-hotplug.ts';
import { decideResizes } from '../hotplug/decide-resize.ts';
import { decideDump } from '../memory-dump/decide-dump.ts';
import { beginHindranceOf } from '../migration/begin-hindrance.ts';
import { decideArrival, isArriving } from '../migration/decide-arrival.ts';
import { decideSource, isSource } from '../migration/decide-source.ts';
import { decideTarget } from '../migration/decide-target.ts';
import { decideSuspension, hasSuspension } from '../suspension/decide-suspension.ts';
import { type Domain, hasEnded } from './domain.ts';
import type { DomainAction, DomainDecision } from './domain-action.ts';
import type { DomainCommand } from './domain-command.ts';
import { isFollowed, mustStop, type ObservedDomain } from './observed.ts';
import { event, record, warning } from './recorded-event.ts';
import { reportChanges } from './report-changes.ts';
import { deriveDomainStatus, type StatusChange } from './status.ts';

/** A guest may not hear its power button the first time, and QEMU may fail to do what it is asked. */
const COMMAND_AGAIN_MS = 5_000;
/** Ending may mean to write much to disk. */
const QUIT_PATIENCE_MS = 30_000;
/** A guest that was cut off has had its time. More than a second, because time stamps are whole seconds. */
const EXPIRED_PATIENCE_MS = 3_000;
const START_PATIENCE_MS = 180_000;
/** A launcher that first copies an image to a claim takes as long as the disks of its node need. */
const COPY_PATIENCE_MS = 3_600_000;

const RULES: readonly [(seen: ObservedDomain) => boolean, (seen: ObservedDomain) => DomainDecision][] = [
  [(seen) => hasLeft(seen) && canBeAsked(seen.domain) && !seen.domain.isGone, endSource],
  [({ hasLeft }) => hasLeft === true, () => forget('VMI is not on this node any more')],
  [(seen) => !isFollowed(seen) && canBeFollowed(seen.pod), follow],
  [(seen) => seen.followed !== undefined && !isFollowed(seen), () => forget('it is another guest of this name')],
  [({ isComing }) => isComing === true, decideTarget],
  [({ vmi }) => isFinal(vmi), clearAway],
  [({ vmi }) => !isPhase(vmi, 'Scheduled') && !isPhase(vmi, 'Running'), () => decision({})],
  [(seen) => hasSuspension(seen) && !hasEnded(seen.domain), (seen) => decideSuspension(seen) ?? unsuspended(seen)],
  [(seen) => isPhase(seen.vmi, 'Scheduled') && hasRun(seen), reportRunning],
  [({ domain }) => domain.state === 'panicked', reportPanic],
  [({ domain }) => domain.state === 'watchdog', reportHang],
  [({ domain }) => domain.state === 'shutdown', reportShutdown],
  [(seen) => mustStop(seen) && isFollowed(seen) && seen.stoppingSince === undefined, startGracePeriod],
  [isGone, reportGone],
  [(seen) => isPhase(seen.vmi, 'Scheduled') && !canBeAsked(seen.domain) && startDeadlineOf(seen) <= seen.now, giveUpStart],
  [(seen) => isSource(seen) && !isCutOffDue(seen), (seen) => decideSource(seen) ?? unmoved(seen)],
  [isArriving, decideArrival],
  [(seen) => !mustStop(seen) && isPhase(seen.vmi, 'Running') && seen.probes?.liveness?.isYes === false, reportUnhealthy],
  [(seen) => mustStop(seen) && gracePeriodSecondsOf(seen.vmi) === 0, cutOff],
  [(seen) => mustStop(seen) && hasNotRun(seen), cancelStart],
  [(seen) => mustStop(seen) && deadlineOf(seen) <= seen.now, cutOffLate],
  [(seen) => mustStop(seen) && standsForItsUser(seen), wakeToPowerOff],
  [mustStop, askToPowerOff],
  [({ vmi, domain }) => domain.state === 'prelaunch' && vmi.spec.startStrategy !== 'Paused', letRun],
  [() => true, keepCurrent],
];

/** Applies the first rule that matches. */
export function decideDomain(seen: ObservedDomain): DomainDecision {
  const [, then] = RULES.find(([matches]) => matches(seen)) ?? [undefined, keepCurrent];
  return then(seen);
}

/** As if there were no suspension. */
function unsuspended(seen: ObservedDomain): DomainDecision {
  return decideFrom(reportRunning, seen);
}

/** As if it were not to go to another node; but one that is being sent may stand still for that. */
function unmoved(seen: ObservedDomain): DomainDecision {
  return isSent(seen) ? keepCurrent(seen) : decideFrom(decideArrival, seen);
}

function isSent({ vmi }: ObservedDomain): boolean {
  const { migrationState } = vmi.status ?? {};
  return isMoving(migrationState) && migrationState?.startTimestamp !== undefined;
}

/** Applies the first rule that matches of this one and those after it. */
function decideFrom(rule: (seen: ObservedDomain) => DomainDecision, seen: ObservedDomain): DomainDecision {
  const at = RULES.findIndex(([, then]) => then === rule);
  const [, then] = RULES.slice(at).find(([matches]) => matches(seen)) ?? [undefined, keepCurrent];
  return then(seen);
}

/** A guest that does not come back from a move is not waited for any longer than others; one that is being sent is called back first. */
function isCutOffDue(seen: ObservedDomain): boolean {
  const isEnding = mustStop(seen) && !isSent(seen);
  return isEnding && (gracePeriodSecondsOf(seen.vmi) === 0 || deadlineOf(seen) <= seen.now);
}

function forget(because: string): DomainDecision {
  return decision({ actions: [{ do: 'forget', because }], lookAgainAfterMs: 0 });
}

/** Its guest is elsewhere: QEMU has sent it, or the server says so, whatever QEMU does here. */
function hasLeft({ hasLeft, hasMoved, domain }: ObservedDomain): boolean {
  return hasLeft === true && (domain.state === 'moved' || hasMoved === true);
}

/** The guest goes on elsewhere; what stands still here is of no use to anybody. */
function endSource(seen: ObservedDomain): DomainDecision {
  return decision({ actions: give(seen, { name: 'quit' }, 'its guest was moved to another node'), lookAgainAfterMs: COMMAND_AGAIN_MS });
}

function follow({ pod }: ObservedDomain): DomainDecision {
  const podUid = pod?.metadata.uid ?? '';
  return decision({ actions: [{ do: 'follow', podUid, because: 'its launcher Pod is on this node' }], lookAgainAfterMs: 0 });
}

function startGracePeriod(seen: ObservedDomain): DomainDecision {
  return decision({ actions: [{ do: 'start grace period', because: whyItStops(seen) }], lookAgainAfterMs: 0 });
}

function clearAway(seen: ObservedDomain): DomainDecision {
  const { vmi, pod, now } = seen;
  if (isGone(seen)) return decision({});
  const because = `VMI is ${vmi.status?.phase}`;
  const quit = give(seen, { name: 'quit' }, because);
  const patienceMs = endingOf(vmi) === 'GracePeriodExpired' ? EXPIRED_PATIENCE_MS : QUIT_PATIENCE_MS;
  const waitMs = (reachedAt(vmi, vmi.status?.phase) ?? now) + patienceMs - now;
  if (waitMs > 0) return decision({ actions: quit, lookAgainAfterMs: Math.min(waitMs, COMMAND_AGAIN_MS) });
  return decision({ actions: [...endPod(pod, `${because} and QEMU does not go`), ...quit] });
}

function reportRunning(seen: ObservedDomain): DomainDecision {
  const actions = write(seen, { phase: 'Running' }, 'the guest is running', event('Created', 'The virtual machine was created.'));
  return decision({ actions: [...actions, record('Started', 'The guest was started.')] });
}

function reportPanic(seen: ObservedDomain): DomainDecision {
  const because = 'the guest panicked';
  const actions = write(seen, { phase: 'Failed', reason: 'GuestPanicked' }, because, warning('GuestPanicked', 'The guest panicked.'));
  return decision({ actions: [...actions, { do: 'record', because, event: warning('Stopped', 'The guest crashed.') }] });
}

function reportHang(seen: ObservedDomain): DomainDecision {
  const because = 'the guest hung and its watchdog stopped it';
  const told = warning('GuestHung', 'The guest did not speak to its watchdog in time and was stopped.');
  const actions = write(seen, { phase: 'Failed', reason: 'GuestHung' }, because, told);
  return decision({ actions: [...actions, { do: 'record', because, event: warning('Stopped', 'The guest hung.') }] });
}

function reportShutdown(seen: ObservedDomain): DomainDecision {
  // Who asked is not in the VMI when somebody deleted its Pod, and the Pod does not stay to tell.
  const reason = mustStop(seen) && !isDeleting(seen.vmi) ? { reason: 'PodDeleted' as const } : {};
  const told = event('Stopped', 'The guest was shut down.');
  return decision({ actions: write(seen, { phase: 'Succeeded', ...reason }, 'the guest powered off', told) });
}

function reportGone(seen: ObservedDomain): DomainDecision {
  if (mustStop(seen) && gracePeriodSecondsOf(seen.vmi) === 0) return cutOff(seen);
  if (mustStop(seen) && deadlineOf(seen) <= seen.now) return cutOffLate(seen);
  const how = howItEnded(seen);
  const reason = isPhase(seen.vmi, 'Running') ? 'QEMUExited' : 'LauncherFailed';
  return decision({ actions: write(seen, { phase: 'Failed', reason, how }, how, warning('Stopped', `The guest crashed: ${how}.`)) });
}

function giveUpStart(seen: ObservedDomain): DomainDecision {
  const because = `QEMU has not answered within ${startPatienceMs(seen.pod) / 1000} s`;
  const actions = write(seen, { phase: 'Failed', reason: 'LauncherUnresponsive' }, because, warning('Stopped', `${because}.`));
  return decision({ actions: [...actions, ...endPod(seen.pod, because)] });
}

function reportUnhealthy(seen: ObservedDomain): DomainDecision {
  const because = `its liveness probe failed: ${seen.probes?.liveness?.why}`;
  const told = warning('Unhealthy', `Liveness probe failed: ${seen.probes?.liveness?.why}`);
  const actions = write(seen, { phase: 'Failed', reason: 'LivenessProbeFailed' }, because, told);
  return decision({ actions: [...actions, { do: 'record', because, event: warning('Stopped', 'The guest was not alive any more.') }] });
}

/** Grace period 0 asks for this end, so it is no failure. */
function cutOff(seen: ObservedDomain): DomainDecision {
  const because = 'deletion without a grace period';
  return decision({ actions: write(seen, { phase: 'Succeeded' }, because, event('Deleted', 'The guest was cut off, as asked.')) });
}

function cancelStart(seen: ObservedDomain): DomainDecision {
  const because = 'deletion before the guest ran';
  const told = event('Deleted', 'The guest was deleted before it ran.');
  return decision({ actions: write(seen, { phase: 'Failed', reason: 'DeletedBeforeStart' }, because, told) });
}

function cutOffLate(seen: ObservedDomain): DomainDecision {
  const because = `the guest did not power off within ${gracePeriodSecondsOf(seen.vmi)} s`;
  const told = event('Deleted', 'The guest was cut off at the end of its grace period.');
  const actions = write(seen, { phase: 'Failed', reason: 'GracePeriodExpired' }, because, told);
  // A QEMU that does not answer has nothing to say in the next pass either.
  return decision({ actions: canBeAsked(seen.domain) || isGone(seen) ? actions : [...actions, ...endPod(seen.pod, because)] });
}

/** It gets its power button when it is seen to run. */
function wakeToPowerOff(seen: ObservedDomain): DomainDecision {
  const [status, ending] = [write(seen, {}, 'what QEMU shows has changed'), [...decideDump(seen), ...decideBackup(seen).actions]];
  const wake = give(seen, { name: 'cont' }, `${whyItStops(seen)}, and a guest that is paused cannot power off`);
  const lookAgainAfterMs = Math.min(deadlineOf(seen) - seen.now, againInMs(seen, 'cont'));
  return decision({ actions: [...status, ...ending, ...wake], lookAgainAfterMs });
}

function askToPowerOff(seen: ObservedDomain): DomainDecision {
  const { domain, now } = seen;
  const [status, others] = [write(seen, {}, 'what QEMU shows has changed'), [...decideDump(seen), ...decideBackup(seen).actions]];
  const powerdown = give(seen, { name: 'system_powerdown' }, whyItStops(seen));
  const isFirst = powerdown.length > 0 && domain.commands['system_powerdown'] === undefined;
  const signalled = isFirst ? [record('ShuttingDown', 'The guest was asked to power off.')] : [];
  const lookAgainAfterMs = Math.min(deadlineOf(seen) - now, againInMs(seen, 'system_powerdown'));
  return decision({ actions: [...status, ...signalled, ...others, ...powerdown], lookAgainAfterMs });
}

function letRun(seen: ObservedDomain): DomainDecision {
  const actions = give(seen, { name: 'cont' }, 'nobody asked the guest to wait');
  return decision({ actions, ...(canBeAsked(seen.domain) && { lookAgainAfterMs: againInMs(seen, 'cont') }) });
}

function keepCurrent(seen: ObservedDomain): DomainDecision {
  const isNews = seen.domain.state === 'io-error' && vmiCondition(seen.vmi, 'Paused')?.reason !== 'PausedIOError';
  const told = isNews ? warning('IOerror', 'The guest was paused because a disk cannot be read or written.') : undefined;
  const [plugs, resizes, backup] = [decidePlugs(seen), decideResizes(seen), decideBackup(seen)];
  const waits = [plugs.lookAgainAfterMs, resizes.lookAgainAfterMs, backup.lookAgainAfterMs].filter((ms) => ms !== undefined);
  const soonest = waits.length > 0 ? Math.min(...waits) : undefined;
  const lookAgainAfterMs = isPhase(seen.vmi, 'Scheduled') ? startDeadlineOf(seen) - seen.now : soonest;
  const others = [...plugs.actions, ...resizes.actions, ...decideDump(seen), ...backup.actions];
  return decision({
    actions: [...write(seen, {}, 'what QEMU shows has changed', told), ...reportChanges(seen), ...others],
    lookAgainAfterMs,
  });
}

/** One patch of the status, or none when it would change nothing. */
function write(seen: ObservedDomain, change: StatusChange, because: string, told?: EventToRecord): Action[] {
  const { vmi } = seen;
  const status = diffAsMergePatch(vmi.status ?? {}, deriveDomainStatus(seen, change));
  if (status === undefined) return [];
  const { resourceVersion } = vmi.metadata;
  return [{ do: 'patch', target: refOf(vmi), patch: { status }, resourceVersion, because, ...(told && { event: told }) }];
}

/** A command, unless it runs, was given a moment ago, or nobody would hear it. Each is its own purpose here, so its name is its id. */
function give(seen: ObservedDomain, command: DomainCommand, because: string): DomainAction[] {
  const last = seen.domain.commands[command.name];
  const isDue = last === undefined || (last.is !== 'running' && last.givenAt + COMMAND_AGAIN_MS <= seen.now);
  return isDue && canBeAsked(seen.domain) ? [{ do: 'command', id: command.name, command, because }] : [];
}

/** When that command may be given again, if it is needed then. */
function againInMs({ domain, now }: ObservedDomain, id: string): number {
  const restMs = (domain.commands[id]?.givenAt ?? Number.NEGATIVE_INFINITY) + COMMAND_AGAIN_MS - now;
  return restMs > 0 ? restMs : COMMAND_AGAIN_MS;
}

/** One second, not none: with none the Pod object would be gone before its process is, and a second QEMU could start beside it. */
function endPod(pod: Pod | undefined, because: string): Action[] {
  return pod ? [{ do: 'delete', target: refOf(pod), gracePeriodSeconds: 1, because }] : [];
}

/** Its uid becomes part of a path. */
function canBeFollowed(pod: Pod | undefined): boolean {
  return pod !== undefined && !isPodFinal(pod) && /^[A-Za-z0-9][A-Za-z0-9-]{0,127}$/.test(pod.metadata.uid ?? '');
}

function whyItStops({ vmi }: ObservedDomain): string {
  return isDeleting(vmi) ? 'VMI is being deleted' : 'launcher Pod is being deleted';
}

function isPhase(vmi: VirtualMachineInstance, phase: 'Scheduled' | 'Running'): boolean {
  return vmi.status?.phase === phase;
}

/** The guest has executed something, or waits as its owner asked it to. */
function hasRun(seen: ObservedDomain): boolean {
  const { vmi, domain } = seen;
  if (domain.state === 'prelaunch') return vmi.spec.startStrategy === 'Paused' && !mustStop(seen);
  return domain.state === 'running' || domain.state === 'paused' || domain.state === 'io-error' || hasEnded(domain);
}

/** Nothing but somebody's wish keeps it from running: what else stops guests lets them go on by itself. */
function standsForItsUser(seen: ObservedDomain): boolean {
  const isBusy = isOnItsWay(seen.vmi.status?.migrationState) || beginHindranceOf('move', seen) !== undefined;
  return seen.domain.state === 'paused' && !isBusy;
}

/** There is nothing in the guest yet that could power it off. */
function hasNotRun({ vmi, domain }: ObservedDomain): boolean {
  return domain.state === 'prelaunch' || domain.state === 'incoming' || (domain.state === 'absent' && isPhase(vmi, 'Scheduled'));
}

function isGone({ pod, domain }: ObservedDomain): boolean {
  return domain.isGone || !pod || isPodFinal(pod) || computeEndOf(pod) !== undefined;
}

function computeEndOf(pod: Pod | undefined) {
  return pod?.status?.containerStatuses?.find(({ name }) => name === COMPUTE_CONTAINER)?.state?.terminated;
}

function howItEnded({ pod, domain }: ObservedDomain): string {
  const end = computeEndOf(pod);
  if (end) {
    const detail = end.message ? `: ${end.message.trim().slice(-500)}` : '';
    return `QEMU ended with ${end.signal ? `signal ${end.signal}` : `exit code ${end.exitCode}`} (${end.reason})${detail}`;
  }
  if (!pod) return 'the launcher Pod is gone';
  if (domain.shutdownReason) return `QEMU was ended from outside (${domain.shutdownReason})`;
  return domain.isGone ? 'QEMU is gone' : `the launcher Pod is ${pod.status?.phase}${pod.status?.reason ? ` (${pod.status.reason})` : ''}`;
}

/**
 * When the guest is cut off. Time stamps drop the part of the second that had passed, so the moment at which we noticed is the
 * better start, unless we noticed late because we were not there.
 */
function deadlineOf({ vmi, pod, stoppingSince = Number.POSITIVE_INFINITY }: ObservedDomain): number {
  const stampedAt = Math.min(
    deletedAt(vmi, 0),
    pod ? deletedAt(pod, pod.metadata.deletionGracePeriodSeconds ?? 0) : Number.POSITIVE_INFINITY,
  );
  return Math.min(stoppingSince, stampedAt + 1000) + gracePeriodSecondsOf(vmi) * 1000;
}

/** The stamp of a Pod is the end of its grace period, that of any other object the moment of deletion. */
function deletedAt({ metadata }: KubeObject, graceSeconds: number): number {
  return metadata.deletionTimestamp ? Date.parse(metadata.deletionTimestamp) - graceSeconds * 1000 : Number.POSITIVE_INFINITY;
}

function startDeadlineOf({ vmi, pod, now }: ObservedDomain): number {
  const startedAt = reachedAt(vmi, 'Scheduled') ?? Date.parse(pod?.status?.startTime ?? '');
  return (Number.isNaN(startedAt) ? now : startedAt) + startPatienceMs(pod);
}

function startPatienceMs(pod: Pod | undefined): number {
  const compute = pod?.spec.containers.find(({ name }) => name === COMPUTE_CONTAINER);
  return compute?.env?.some(({ name }) => name === LAUNCHER_VARIABLES.diskImages) ? COPY_PATIENCE_MS : START_PATIENCE_MS;
}

function reachedAt(vmi: VirtualMachineInstance, phase: string | undefined): number | undefined {
  const at = vmi.status?.phaseTransitionTimestamps?.find((entry) => entry.phase === phase)?.phaseTransitionTimestamp;
  return at === undefined ? undefined : Date.parse(at);
}

function canBeAsked(domain: Domain): boolean {
  return domain.isConnected && domain.state !== 'unresponsive';
}

function decision({ actions = [], lookAgainAfterMs }: Partial<DomainDecision>): DomainDecision {
  return { actions, ...(lookAgainAfterMs !== undefined && { lookAgainAfterMs: Math.max(0, lookAgainAfterMs) }) };
}
