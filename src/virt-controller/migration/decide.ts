/**
 * What should happen to one VirtualMachineInstanceMigration. First match wins.
 *
 *   when                                                        then
 *   over                                                        take the target label off the instance, end a Pod that is of no use, let go;
 *                                                               the newest five of an instance are kept, with the Pods that it left by them,
 *                                                               and none of an instance that is gone
 *   new                                                         Pending, with our finalizer
 *   VMI gone, final or deleting; taken over by another          Failed
 *   another migration of the VMI came first                     Failed
 *   deleted (cancelled), the two nodes were not told            Failed
 *   deleted, the nodes were told                                ask them to abort
 *   the nodes say failed                                        Failed
 *   the nodes say completed, and the guest is there             Succeeded
 *   the two nodes were not told, and the guest
 *     is suspended, or cannot be moved for good                 Failed
 *     is backed up, dumped or frozen, no Pod was made yet       say so in a condition, and wait
 *     is not back from the move before, no Pod was made yet     wait
 *   Pending, too many are under way, or come first              look again
 *   Pending, no Pod                                             make the Pod that the guest goes to; say why, when it could not be made
 *   Pending, Pod                                                Scheduling
 *   target Pod gone, deleted or ended                           Failed; where the nodes were told, they are told of this too, first
 *   target Pod has no node after 5 min, or is not up after 15   Failed; annotations of the migration say otherwise
 *   the nodes were told 15 min ago, and the guest is not sent   Failed, for the nodes first: virt-handler is away on one of them
 *   Scheduling, the launcher runs                               Scheduled
 *   Scheduled, the guest is backed up, dumped, frozen or away   say so in a condition, and wait, as long as for a Pod; Failed then
 *   Scheduled, too many are under way: Pods were made at once   look again, as long as for a Pod
 *   Scheduled                                                   PreparingTarget: tell both nodes, in one write of the VMI
 *   PreparingTarget, the target has said where                  TargetReady
 *   TargetReady, the source has begun                           Running
 *   no node has room for the Pod                                say so in a condition, and wait
 *
 * This controller never hands a guest over: the node does that the guest leaves. Pure.
 */
import { isPodFinal, type Pod } from '../../api/core/pod.ts';
import { withPolicy } from '../../api/kubevirt/configuration/migration-settings.ts';
import { type Hindrance, hindranceOf } from '../../api/kubevirt/exclusive-operations.ts';
import {
  isMigrationFinal,
  isMoving,
  type MigrationPhase,
  type VirtualMachineInstanceMigration,
} from '../../api/kubevirt/kinds/migration.ts';
import { isFinal, type VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { whyNotMigratable } from '../../api/kubevirt/migratable.ts';
import { FINALIZER_MIGRATION, LABEL_MIGRATION_TARGET_NODE, LABEL_MIGRATION_VMI } from '../../api/kubevirt/names.ts';
import { currentLauncherNameOf } from '../../api/launcher/pod-name.ts';
import { isDeleting, type KubeObject, refOf } from '../../api/meta.ts';
import { timestamp } from '../../base/timestamp.ts';
import type { Action, Decision, EventToRecord } from '../../reconcile/decision.ts';
import { isLauncherUp } from '../vmi/phase.ts';
import type { ObservedMigration } from './observed.ts';
import { patienceMs, silenceMs } from './patience.ts';
import { rejectedHold, showHold, unplacedHold } from './show-hold.ts';
import { targetPodFor } from './target-pod.ts';

type Rule = readonly [when: (seen: ObservedMigration) => boolean, then: (seen: ObservedMigration) => Decision];

const BUSY_AGAIN_MS = 3_000;
/** A QEMU whose guest has left ends by itself; its Pod is ended when it does not. */
const SOURCE_PATIENCE_MS = 30_000;
/** The source of a move that was begun knows best why its target has ended. */
const SOURCE_WORD_MS = 5_000;
const KEPT = 5;

const RULES: readonly Rule[] = [
  [({ migration }) => isMigrationFinal(migration), clearAway],
  [({ migration }) => migration.status?.phase === undefined, begin],
  [({ vmi }) => vmi === undefined, (seen) => fail(seen, 'the instance is gone')],
  [({ vmi }) => vmi !== undefined && (isFinal(vmi) || vmi.status?.phase !== 'Running'), (seen) => fail(seen, 'the instance does not run')],
  [(seen) => wasTold(seen) && !isOurs(seen), (seen) => fail(seen, 'another migration has taken the instance over')],
  [({ earlier }) => earlier !== undefined, (seen) => fail(seen, `the instance is being moved already, by ${seen.earlier}`)],
  [(seen) => isOurs(seen) && stateOf(seen).failed === true, (seen) => fail(seen, stateOf(seen).failureReason ?? 'the guest stayed')],
  [(seen) => isOurs(seen) && stateOf(seen).targetNodeDomainReadyTimestamp !== undefined, succeed],
  [(seen) => isOurs(seen) && stateOf(seen).completed === true, () => ({ actions: [] })],
  [(seen) => isUnwanted(seen) && !isOurs(seen), (seen) => fail(seen, whyUnwanted(seen))],
  [(seen) => isUnwanted(seen) && stateOf(seen).abortRequested !== true, requestAbort],
  [(seen) => !hasTarget(seen) && isOurs(seen), reportLostTarget],
  [(seen) => isOurs(seen) && !isBegun(seen) && silenceMs(seen) <= 0, reportSilence],
  [(seen) => whyItStays(seen) !== undefined, (seen) => fail(seen, whyItStays(seen) ?? '')],
  [(seen) => isPhase(seen, 'Pending') && seen.targetPod === undefined && isHindered(seen), waitForGuest],
  [
    (seen) => isPhase(seen, 'Pending') && seen.targetPod === undefined && isTooMuch(seen),
    () => ({ actions: [], lookAgainAfterMs: BUSY_AGAIN_MS }),
  ],
  [(seen) => isPhase(seen, 'Pending') && seen.targetPod === undefined, createTarget],
  [(seen) => !hasTarget(seen), (seen) => fail(seen, `the Pod that it was to go to ${seen.targetPod ? 'has ended' : 'is gone'}`)],
  [
    (seen) => isPhase(seen, 'Scheduled') && isHindered(seen) && patienceMs(seen) <= 0,
    (seen) => fail(seen, `it cannot be moved yet: ${hindranceNow(seen)?.why}`),
  ],
  [(seen) => isPhase(seen, 'Scheduled') && isHindered(seen), waitForGuest],
  [
    (seen) => isPhase(seen, 'Scheduled') && !isOurs(seen) && patienceMs(seen) > 0 && isTooMuch(seen),
    () => ({ actions: [], lookAgainAfterMs: BUSY_AGAIN_MS }),
  ],
  [(seen) => !isOurs(seen) && patienceMs(seen) <= 0, (seen) => fail(seen, whyNotUp(seen))],
  [(seen) => isPhase(seen, 'Pending'), (seen) => advance(seen, 'Scheduling', 'there is a Pod for it to go to')],
  [
    (seen) => isPhase(seen, 'Scheduling') && isLauncherUp(seen.targetPod),
    (seen) => advance(seen, 'Scheduled', `the Pod runs on ${nodeOf(seen)}`),
  ],
  [(seen) => isPhase(seen, 'Scheduled') && !isOurs(seen), tellNodes],
  [(seen) => isPhase(seen, 'Scheduled'), (seen) => advance(seen, 'PreparingTarget', 'both nodes were told')],
  [
    (seen) => isPhase(seen, 'PreparingTarget') && stateOf(seen).targetNodeAddress !== undefined,
    (seen) => advance(seen, 'TargetReady', 'the target waits'),
  ],
  [
    (seen) => isPhase(seen, 'TargetReady') && stateOf(seen).startTimestamp !== undefined,
    (seen) => advance(seen, 'Running', 'the guest is being sent'),
  ],
  [(seen) => !isOurs(seen), waitForPod],
  [(seen) => !isBegun(seen), (seen) => ({ actions: [], lookAgainAfterMs: silenceMs(seen) })],
];

/** Applies the first rule that matches. */
export function decideMigration(seen: ObservedMigration): Decision {
  return RULES.find(([matches]) => matches(seen))?.[1](seen) ?? { actions: [] };
}

function begin(seen: ObservedMigration): Decision {
  const { migration, now } = seen;
  const { metadata } = migration;
  const finalizers = [...(metadata.finalizers ?? []).filter((each) => each !== FINALIZER_MIGRATION), FINALIZER_MIGRATION];
  const labels = { [LABEL_MIGRATION_VMI]: migration.spec.vmiName ?? '' };
  const isMissing = !metadata.finalizers?.includes(FINALIZER_MIGRATION) && !isDeleting(migration);
  if (isMissing) return { actions: [patch(migration, { metadata: { finalizers, labels } }, 'the migration is new')] };
  return { actions: [writePhase(migration, { phase: 'Pending', now }, 'the migration is new')] };
}

function createTarget(seen: ObservedMigration): Decision {
  const { vmi, migration, launcher, createError } = seen;
  if (!vmi) return { actions: [] };
  const rejected = createError === undefined ? [] : showHold(seen, rejectedHold(createError));
  const pod = targetPodFor(vmi, migration, launcher);
  const event: EventToRecord = { type: 'Normal', reason: 'SuccessfulCreate', message: `Created migration target pod ${pod.metadata.name}` };
  return { actions: [...rejected, { do: 'create', object: pod, because: 'the instance needs a place to go to', event }] };
}

/** What ends by itself is waited for. */
function hindranceNow(seen: ObservedMigration): Hindrance | undefined {
  return seen.vmi && !isOurs(seen) ? hindranceOf('move', seen.vmi) : undefined;
}

function isHindered(seen: ObservedMigration): boolean {
  return hindranceNow(seen) !== undefined;
}

/** Of a suspension the machine ends, and what a guest has that holds it to its node does not end by itself. */
function whyItStays(seen: ObservedMigration): string | undefined {
  const { vmi } = seen;
  if (!vmi || isOurs(seen)) return undefined;
  const hindrance = hindranceOf('move', vmi);
  if (hindrance) return hindrance.is === 'suspended' ? hindrance.why : undefined;
  return whyNotMigratable(vmi)?.message;
}

function waitForGuest(seen: ObservedMigration): Decision {
  const hindrance = hindranceNow(seen);
  if (!hindrance) return { actions: [] };
  const lookAgainAfterMs = isPhase(seen, 'Scheduled') ? patienceMs(seen) : BUSY_AGAIN_MS;
  // Not for long: while the file systems are frozen, or until the guest is back from the move before.
  if (hindrance.is === 'frozen' || hindrance.is === 'moved') return { actions: [], lookAgainAfterMs };
  const type = hindrance.is === 'backed up' ? 'migrationBlockedByBackup' : 'migrationBlockedByUtilityVolumes';
  const message = `it is moved when that is over: ${hindrance.why}`;
  const event = { type: 'Normal', reason: 'UtilityVolumeMigrationPending', message } as const;
  const actions = showHold(seen, { type, reason: 'GuestBusy', message }, hindrance.is === 'dumped' ? event : undefined);
  return { actions, lookAgainAfterMs };
}

function waitForPod(seen: ObservedMigration): Decision {
  const hold = unplacedHold(seen.targetPod);
  const event = {
    type: 'Warning',
    reason: 'migrationTargetPodUnschedulable',
    message: `No node has room for it: ${hold?.message}`,
  } as const;
  return { actions: hold ? showHold(seen, hold, event) : [], lookAgainAfterMs: Math.max(1_000, patienceMs(seen)) };
}

function whyNotUp({ targetPod }: ObservedMigration): string {
  const hold = unplacedHold(targetPod);
  return hold
    ? `no node has room for the Pod that it was to go to: ${hold.message}`
    : 'the Pod that it was to go to did not come up in time';
}

/** From here on the move is of the two nodes. */
function tellNodes(seen: ObservedMigration): Decision {
  const { vmi, migration, targetPod, policy, settings } = seen;
  if (!vmi) return { actions: [] };
  const next = {
    migrationUid: migration.metadata.uid,
    sourceNode: vmi.status?.nodeName,
    sourcePod: currentLauncherNameOf(vmi),
    targetNode: nodeOf(seen),
    targetPod: targetPod?.metadata.name,
    migrationNetworkType: 'Pod',
    ...(policy && { migrationPolicyName: policy.metadata.name }),
    migrationConfiguration: withPolicy(settings, policy?.spec),
  };
  const none = Object.fromEntries(Object.keys(vmi.status?.migrationState ?? {}).map((field) => [field, null]));
  const labels = { [LABEL_MIGRATION_TARGET_NODE]: nodeOf(seen) };
  const event: EventToRecord = {
    type: 'Normal',
    reason: 'SuccessfulHandOver',
    message: `Told nodes ${next.sourceNode} and ${next.targetNode} of the migration`,
  };
  return {
    actions: [{ ...patch(vmi, { metadata: { labels }, status: { migrationState: { ...none, ...next } } }, 'the target Pod runs'), event }],
  };
}

function requestAbort(seen: ObservedMigration): Decision {
  const { vmi } = seen;
  if (!vmi) return { actions: [] };
  const [migrationState, message] = [{ abortRequested: true, abortStatus: 'Aborting' }, 'the migration was deleted'];
  const shown = isDeleting(seen.migration) ? showHold(seen, { type: 'migrationAbortRequested', reason: 'MigrationDeleted', message }) : [];
  return { actions: [patch(vmi, { status: { migrationState } }, message), ...shown] };
}

/**
 * By one write, which the source must lose or win against its own: then it knows whether to let the guest run on. Where it has begun, it has time
 * to say first why it called its guest back.
 */
function reportLostTarget(seen: ObservedMigration): Decision {
  const { vmi, now } = seen;
  if (!vmi) return { actions: [] };
  const waitMs = stateOf(seen).startTimestamp ? lostAt(seen) + SOURCE_WORD_MS - now : 0;
  if (waitMs > 0) return { actions: [], lookAgainAfterMs: waitMs };
  const migrationState = { failed: true, failureReason: 'the Pod that it was to go to has ended', endTimestamp: timestamp(now) };
  return { actions: [patch(vmi, { status: { migrationState } }, 'the target Pod has ended')] };
}

/** One write, which the source must lose or win against its own: it begins nothing then. */
function reportSilence(seen: ObservedMigration): Decision {
  const { vmi, now } = seen;
  if (!vmi) return { actions: [] };
  const { targetNode, sourceNode, targetNodeAddress } = stateOf(seen);
  const failureReason = targetNodeAddress
    ? `node ${sourceNode} has not begun to send the guest in time: virt-handler there may be away`
    : `node ${targetNode} has not got ready to take the guest in time: virt-handler there may be away`;
  const migrationState = { failed: true, failureReason, endTimestamp: timestamp(now) };
  return { actions: [patch(vmi, { status: { migrationState } }, failureReason)] };
}

/** When the containers of the target ended. Long ago when nobody can say, and when they run: its Pod is deleted, and a guest must not come there any more. */
function lostAt({ targetPod }: ObservedMigration): number {
  const ends = (targetPod?.status?.containerStatuses ?? []).map(({ state }) => Date.parse(state?.terminated?.finishedAt ?? ''));
  return Math.max(Number.NEGATIVE_INFINITY, ...ends.filter((each) => !Number.isNaN(each)));
}

function fail(seen: ObservedMigration, why: string): Decision {
  const { migration, now } = seen;
  const isAbort = isDeleting(migration) && isOurs(seen);
  const event: EventToRecord = isAbort
    ? { type: 'Normal', reason: 'SuccessfulAbortMigration', message: 'The migration was cancelled' }
    : { type: 'Warning', reason: 'FailedMigration', message: `The migration failed: ${why}` };
  return { actions: [{ ...writePhase(migration, { phase: 'Failed', now, state: stateToShow(seen, why) }, why), event }] };
}

function succeed(seen: ObservedMigration): Decision {
  const { migration, now } = seen;
  const message = `The instance runs on node ${stateOf(seen).targetNode}`;
  const event: EventToRecord = { type: 'Normal', reason: 'SuccessfulMigration', message };
  return { actions: [{ ...writePhase(migration, { phase: 'Succeeded', now, state: stateToShow(seen) }, message), event }] };
}

function advance({ migration, now }: ObservedMigration, phase: MigrationPhase, because: string): Decision {
  return { actions: [writePhase(migration, { phase, now }, because)] };
}

/** In this order: nobody looks for a guest at a target any more, its Pod goes, and then the migration may. */
function clearAway(seen: ObservedMigration): Decision {
  const { migration, vmi, targetPod, finished, now } = seen;
  const isLabelled = isOurs(seen) && vmi?.metadata.labels?.[LABEL_MIGRATION_TARGET_NODE] !== undefined;
  if (vmi && isLabelled && !isMoving(vmi.status?.migrationState))
    return { actions: [patch(vmi, { metadata: { labels: { [LABEL_MIGRATION_TARGET_NODE]: null } } }, 'the migration is over')] };
  const isUseless = migration.status?.phase === 'Failed' && targetPod && !isPodFinal(targetPod) && !isDeleting(targetPod);
  if (isUseless && !isGuestIn(seen, targetPod)) return { actions: [end(targetPod, 'the instance does not come to it')] };
  const late = lateSource(seen);
  if (late && late.waitMs <= 0) return { actions: [end(late.pod, 'its guest has left, and QEMU does not go')] };
  const finalizers = migration.metadata.finalizers?.filter((each) => each !== FINALIZER_MIGRATION) ?? [];
  const isHeld = finalizers.length !== (migration.metadata.finalizers ?? []).length;
  const tooOld = finished.slice(KEPT).filter((each) => !isDeleting(each));
  const isLast = vmi === undefined && !isDeleting(migration);
  return {
    actions: [
      ...(isHeld ? [patch(migration, { metadata: { finalizers } }, 'the migration is over')] : []),
      ...(isLast ? [forget(migration, 'its instance is gone')] : []),
      ...tooOld.flatMap((each) => [...leftPodOf(each), forget(each, `${KEPT} of an instance are kept`)]),
    ],
    ...(late && { lookAgainAfterMs: Math.max(0, late.waitMs, now - now) }),
  };
}

function forget(migration: VirtualMachineInstanceMigration, because: string): Action {
  return { do: 'delete', target: refOf(migration), because };
}

/** A guest never comes back to a Pod that it has left: each move has one of its own. */
function leftPodOf({ metadata: { namespace }, status }: VirtualMachineInstanceMigration): readonly Action[] {
  const { sourcePod: name, completed } = status?.migrationState ?? {};
  if (status?.phase !== 'Succeeded' || !completed || name === undefined) return [];
  const target = { apiVersion: 'v1', kind: 'Pod', name, ...(namespace !== undefined && { namespace }) };
  return [{ do: 'delete', target, because: 'its guest left it long ago' }];
}

function lateSource(seen: ObservedMigration): { readonly pod: Pod; readonly waitMs: number } | undefined {
  const { migration, sourcePod, now } = seen;
  if (migration.status?.phase !== 'Succeeded' || !sourcePod || isPodFinal(sourcePod) || isDeleting(sourcePod)) return undefined;
  if (isGuestIn(seen, sourcePod) || sourcePod.metadata.name !== migration.status.migrationState?.sourcePod) return undefined;
  return { pod: sourcePod, waitMs: Date.parse(migration.status.migrationState.endTimestamp ?? '') + SOURCE_PATIENCE_MS - now };
}

function isGuestIn({ vmi }: ObservedMigration, pod: Pod): boolean {
  return vmi !== undefined && !isFinal(vmi) && currentLauncherNameOf(vmi) === pod.metadata.name;
}

function end(pod: Pod, because: string): Action {
  return { do: 'delete', target: refOf(pod), gracePeriodSeconds: 1, because };
}

function isPhase({ migration }: ObservedMigration, phase: MigrationPhase): boolean {
  return migration.status?.phase === phase;
}

/** The two nodes know of this one. */
function isOurs({ vmi, migration }: ObservedMigration): boolean {
  return vmi?.status?.migrationState?.migrationUid === migration.metadata.uid;
}

function wasTold({ migration }: ObservedMigration): boolean {
  const { phase } = migration.status ?? {};
  return phase === 'PreparingTarget' || phase === 'TargetReady' || phase === 'Running';
}

function stateOf({ vmi }: ObservedMigration): NonNullable<NonNullable<VirtualMachineInstance['status']>['migrationState']> {
  return vmi?.status?.migrationState ?? {};
}

function isBegun(seen: ObservedMigration): boolean {
  return stateOf(seen).startTimestamp !== undefined;
}

/** One that failed before the nodes were told has nothing but the reason. */
function stateToShow(seen: ObservedMigration, failureReason?: string) {
  if (isOurs(seen)) return stateOf(seen);
  return failureReason === undefined ? undefined : { failed: true, failureReason, endTimestamp: timestamp(seen.now) };
}

/** Whoever wants the instance to end, or the migration, does not want this. */
function isUnwanted({ migration, vmi }: ObservedMigration): boolean {
  return isDeleting(migration) || (vmi !== undefined && isDeleting(vmi));
}

function whyUnwanted({ migration }: ObservedMigration): string {
  return isDeleting(migration) ? 'the migration was cancelled' : 'the instance is being deleted';
}

function hasTarget({ targetPod, migration }: ObservedMigration): boolean {
  if (migration.status?.phase === 'Pending' && targetPod === undefined) return true; // none was made yet
  return targetPod !== undefined && !isPodFinal(targetPod) && !isDeleting(targetPod);
}

function isTooMuch({ underWay, settings }: ObservedMigration): boolean {
  const { parallelMigrationsPerCluster, parallelOutboundMigrationsPerNode } = settings;
  return underWay.inCluster >= parallelMigrationsPerCluster || underWay.fromNode >= parallelOutboundMigrationsPerNode;
}

function nodeOf({ targetPod }: ObservedMigration): string {
  return targetPod?.spec.nodeName ?? '';
}

type Phase = { readonly phase: MigrationPhase; readonly now: number; readonly state?: object | undefined };

function writePhase(
  migration: ObservedMigration['migration'],
  { phase, now, state }: Phase,
  because: string,
): Extract<Action, { do: 'patch' }> {
  const stamps = [...(migration.status?.phaseTransitionTimestamps ?? []), { phase, phaseTransitionTimestamp: timestamp(now) }];
  // What it waited for is over when it goes on.
  const conditions = migration.status?.conditions && { conditions: null };
  const status = { phase, phaseTransitionTimestamps: stamps, ...(state && { migrationState: state }), ...conditions };
  return { ...patch(migration, { status }, `${phase}: ${because}`), subresource: 'status' };
}

/** A patch that holds only for the object as we saw it. */
function patch(object: KubeObject, change: object, because: string): Extract<Action, { do: 'patch' }> {
  return { do: 'patch', target: refOf(object), patch: change, resourceVersion: object.metadata.resourceVersion, because };
}
