/**
 * What should happen to one ReplicaSet, given every Pod that may be its own.
 *
 *   when                                 then
 *   selector empty                       nothing: it would be all Pods
 *   an orphan fits the selector          adopt it
 *   a Pod of ours no longer fits         release it
 *   being deleted                        write the status, nothing else: the garbage collector does the rest
 *   fewer active Pods than wanted        create the difference
 *   more                                 delete the difference: those that do least first
 *   the numbers are right                write the status; look again when the next Pod has been ready for minReadySeconds
 *
 * At most 500 Pods are made or removed in one pass. Adoptions and releases go first and alone, so that a count is never taken of a set that is
 * about to change. The names of new Pods follow from the Pods that are there: deciding twice on one picture makes nothing twice.
 *
 * Pure: no clock, no I/O, no randomness.
 */
import { isPodFinal, type Pod } from '../../../api/core/pod.ts';
import type { ReplicaSet } from '../../../api/core/replica-set.ts';
import { isControlledBy, isDeleting, refOf } from '../../../api/meta.ts';
import { diffAsMergePatch } from '../../../base/json.ts';
import { matchesLabels, requirementsOf } from '../../../base/selectors.ts';
import { adopt, release } from '../../../reconcile/decide-owner.ts';
import { type Action, type Decision, nothingToDo } from '../../../reconcile/decision.ts';
import { madeNames } from '../made-names.ts';
import { isPodActive, isPodReady, nextAvailableMs, podFrom } from '../pod-state.ts';
import type { ObservedReplicaSet } from './observed.ts';
import { deriveReplicaSetStatus } from './status.ts';

const BURST = 500;
/** Which of too many Pods goes first: the one with the lower number. */
const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';

/** The rules above, for one set. */
export function decideReplicaSet(observed: ObservedReplicaSet): Decision {
  const { set, pods, now } = observed;
  if (requirementsOf(set.spec.selector).length === 0) return nothingToDo;
  const ownership = isDeleting(set) ? [] : adoptOrRelease(observed);
  if (ownership.length > 0) return { actions: ownership };
  const mine = pods.filter((pod) => isControlledBy(pod, set));
  const active = mine.filter(isPodActive);
  const status = writeStatus(observed, active);
  const lookAgainAfterMs = nextAvailableMs(active, set.spec.minReadySeconds, now);
  if (isDeleting(set)) return { actions: status };
  const scaling = [...create(observed, mine, active.length), ...remove(set, active)];
  if (scaling.length === 0) return { actions: status, ...(lookAgainAfterMs !== undefined && { lookAgainAfterMs }) };
  // A refusal is told before the next try; otherwise the status waits until the numbers have settled.
  const isRefused = observed.createError !== undefined || observed.deleteError !== undefined;
  return { actions: isRefused ? [...status, ...scaling] : scaling };
}

function adoptOrRelease({ set, pods, mayAdopt }: ObservedReplicaSet): Action[] {
  const requirements = requirementsOf(set.spec.selector);
  return pods.flatMap((pod) => {
    const isMine = isControlledBy(pod, set);
    const fits = matchesLabels(requirements, pod.metadata.labels);
    if (isMine && !fits) return [release(set, pod)];
    return !isMine && fits && mayAdopt && !isDeleting(pod) && !isPodFinal(pod) ? [adopt(set, pod)] : [];
  });
}

function wantedOf({ spec }: ReplicaSet): number {
  return spec.replicas ?? 1;
}

function create({ set, taken }: ObservedReplicaSet, mine: readonly Pod[], active: number): Action[] {
  const count = Math.min(BURST, Math.max(0, wantedOf(set) - active));
  return madeNames({ owner: set, present: mine, taken, count }).map((name) => ({
    do: 'create',
    object: podFrom({ owner: set, template: set.spec.template, name }),
    because: `${active} Pods, ${wantedOf(set)} wanted`,
    event: { type: 'Normal', reason: 'SuccessfulCreate', message: `Created pod: ${name}` },
  }));
}

function remove(set: ReplicaSet, active: readonly Pod[]): Action[] {
  const count = Math.min(BURST, Math.max(0, active.length - wantedOf(set)));
  if (count === 0) return [];
  return leastFirst(active)
    .slice(0, count)
    .map((pod) => ({
      do: 'delete',
      target: refOf(pod),
      because: `${active.length} Pods, ${wantedOf(set)} wanted`,
      event: { type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted pod: ${pod.metadata.name}` },
    }));
}

/** Whoever serves nobody goes first: without a node, not running, not ready; then the cheaper, the one in a crowd, the one that restarts, the youngest. */
function leastFirst(pods: readonly Pod[]): Pod[] {
  const crowd = new Map<string, number>();
  for (const { spec } of pods) crowd.set(spec.nodeName ?? '', (crowd.get(spec.nodeName ?? '') ?? 0) + 1);
  const ranks: readonly ((pod: Pod) => number)[] = [
    (pod) => (pod.spec.nodeName ? 1 : 0),
    (pod) => (pod.status?.phase === 'Running' ? 1 : 0),
    (pod) => (isPodReady(pod) ? 1 : 0),
    (pod) => Number(pod.metadata.annotations?.[DELETION_COST] ?? 0) || 0,
    (pod) => -(crowd.get(pod.spec.nodeName ?? '') ?? 0),
    (pod) => -Math.max(0, ...(pod.status?.containerStatuses ?? []).map(({ restartCount }) => restartCount)),
    (pod) => -Date.parse(pod.metadata.creationTimestamp ?? '') || 0,
  ];
  const ranked = pods.map((pod) => ({ pod, rank: ranks.map((of) => of(pod)) }));
  ranked.sort((a, b) => {
    const at = a.rank.findIndex((each, i) => each !== b.rank[i]);
    return at < 0 ? a.pod.metadata.name.localeCompare(b.pod.metadata.name) : a.rank[at]! - b.rank[at]!; // both have every rank
  });
  return ranked.map(({ pod }) => pod);
}

function writeStatus(observed: ObservedReplicaSet, active: readonly Pod[]): Action[] {
  const { set } = observed;
  const status = deriveReplicaSetStatus(observed, active);
  const patch = diffAsMergePatch(set.status ?? {}, status);
  if (patch === undefined) return [];
  const because = `${status.replicas} Pods, ${status.readyReplicas ?? 0} ready`;
  const { resourceVersion } = set.metadata;
  return [{ do: 'patch', target: refOf(set), subresource: 'status', patch: { status: patch }, resourceVersion, because }];
}
