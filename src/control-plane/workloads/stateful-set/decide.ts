/**
 * What should happen to one StatefulSet, given its Pods, claims and revisions.
 *
 *   when                                                       then
 *   an orphan with one of its names fits, or one does not      adopt it, release it; nothing else in this pass
 *   the template has no revision, or not the newest            see template-revisions.ts; nothing else in this pass
 *   being deleted                                              write the status, nothing else
 *   a number has a Pod that has ended                          delete it; it is made again under the same name
 *   a number has no Pod                                        its claims, then the Pod; of the old revision below the partition
 *   OrderedReady: a lower number is not ready, or going        wait with every higher one
 *   numbers beyond replicas                                    delete, highest first; OrderedReady: one at a time, and only when all others are ready
 *   RollingUpdate: Pods of another revision                    delete, highest first, one at a time, down to the partition
 *   OnDelete                                                   wait until somebody deletes them
 *   whenScaled: Delete, and a Pod beyond replicas is gone      delete its claims
 *
 * Names follow from numbers, so nothing is made twice.
 *
 * Pure: no clock, no I/O, no randomness.
 */
import { LABEL_CONTROLLER_REVISION_HASH } from '../../../api/core/controller-revision.ts';
import { isPodFinal, type Pod } from '../../../api/core/pod.ts';
import type { StatefulSet } from '../../../api/core/stateful-set.ts';
import { isControlledBy, isDeleting, refOf } from '../../../api/meta.ts';
import { diffAsMergePatch } from '../../../base/json.ts';
import { matchesLabels, requirementsOf } from '../../../base/selectors.ts';
import { adopt, release } from '../../../reconcile/decide-owner.ts';
import { type Action, type Decision, nothingToDo } from '../../../reconcile/decision.ts';
import { isPodAvailable, nextAvailableMs } from '../pod-state.ts';
import { forgetRevisions, revisionHash, templateOf, templateRevisions } from '../template-revisions.ts';
import { claimsOf, numberedPod, numberOf, podName } from './numbered-pod.ts';
import type { ObservedStatefulSet } from './observed.ts';
import { deriveStatefulSetStatus, type Generations } from './status.ts';

/** The rules above, for one set. */
export function decideStatefulSet(observed: ObservedStatefulSet): Decision {
  const { set, pods, revisions, mayAdopt, now } = observed;
  if (requirementsOf(set.spec.selector).length === 0) return nothingToDo;
  const ownership = isDeleting(set) ? [] : adoptOrRelease(observed);
  if (ownership.length > 0) return { actions: ownership };
  const history = templateRevisions(set, revisions, mayAdopt);
  if (isDeleting(set)) return nothingToDo;
  if (history.actions.length > 0 || !history.current) return { actions: history.actions };
  const update = history.current;
  const generations = { update, current: history.all.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update };
  const mine = pods.filter((pod) => isControlledBy(pod, set) && numberOf(set, pod) !== undefined);
  const actions = nextSteps(observed, mine, generations);
  const inUse = new Set([
    revisionHash(generations.current),
    ...mine.map((pod) => pod.metadata.labels?.[LABEL_CONTROLLER_REVISION_HASH] ?? ''),
  ]);
  const lookAgainAfterMs = nextAvailableMs(mine, set.spec.minReadySeconds, now);
  return {
    actions: actions.length > 0 ? actions : [...writeStatus(observed, mine, generations), ...forgetRevisions(set, history, inUse)],
    ...(lookAgainAfterMs !== undefined && { lookAgainAfterMs }),
  };
}

function adoptOrRelease({ set, pods, mayAdopt }: ObservedStatefulSet): Action[] {
  const requirements = requirementsOf(set.spec.selector);
  return pods.flatMap((pod) => {
    const isMine = isControlledBy(pod, set);
    const fits = matchesLabels(requirements, pod.metadata.labels) && numberOf(set, pod) !== undefined;
    if (isMine && !fits) return [release(set, pod)];
    return !isMine && fits && mayAdopt && !isDeleting(pod) ? [adopt(set, pod)] : [];
  });
}

/** The first of these that has something to do: ended Pods, missing Pods, surplus Pods, old Pods, claims of Pods that are gone. */
function nextSteps(observed: ObservedStatefulSet, mine: readonly Pod[], generations: Generations): Action[] {
  const { set, now } = observed;
  const first = set.spec.ordinals?.start ?? 0;
  const wanted = Array.from({ length: set.spec.replicas ?? 1 }, (_, i) => first + i);
  const byNumber = new Map(mine.map((pod) => [numberOf(set, pod) ?? -1, pod]));
  const isParallel = set.spec.podManagementPolicy === 'Parallel';
  const serves = (pod: Pod | undefined) => pod !== undefined && !isDeleting(pod) && isPodAvailable(pod, set.spec.minReadySeconds, now);
  const ended = mine.filter((pod) => isPodFinal(pod) && !isDeleting(pod)).map((pod) => remove(pod, `it is ${pod.status?.phase}`));
  if (ended.length > 0) return ended;
  const growth: Action[] = [];
  for (const number of wanted) {
    const pod = byNumber.get(number);
    if (!pod) growth.push(...make(observed, number, generations));
    if (!isParallel && !serves(pod)) return growth; // whoever comes after it waits
  }
  if (growth.length > 0) return growth;
  const surplus = mine
    .filter((pod) => !wanted.includes(numberOf(set, pod) ?? -1))
    .toSorted((a, b) => (numberOf(set, b) ?? 0) - (numberOf(set, a) ?? 0));
  if (surplus.length > 0) {
    if (!isParallel && surplus.some(isDeleting)) return [];
    const going = (isParallel ? surplus : surplus.slice(0, 1)).filter((pod) => !isDeleting(pod));
    return going.map((pod) => remove(pod, `${wanted.length} are wanted`));
  }
  const replaced = replaceOldest(set, wanted.toReversed(), { byNumber, generations, serves });
  return replaced.length > 0 ? replaced : leftClaims(observed, new Set(wanted));
}

type Replacing = {
  readonly byNumber: ReadonlyMap<number, Pod>;
  readonly generations: Generations;
  readonly serves: (pod: Pod | undefined) => boolean;
};

function replaceOldest({ spec }: StatefulSet, highestFirst: readonly number[], { byNumber, generations, serves }: Replacing): Action[] {
  if (spec.updateStrategy?.type === 'OnDelete') return [];
  const partition = (spec.updateStrategy?.rollingUpdate?.partition ?? 0) + (spec.ordinals?.start ?? 0);
  const hash = revisionHash(generations.update);
  for (const number of highestFirst.filter((each) => each >= partition)) {
    const pod = byNumber.get(number);
    const isOld = pod?.metadata.labels?.[LABEL_CONTROLLER_REVISION_HASH] !== hash;
    if (pod && isOld && !isDeleting(pod)) return [remove(pod, 'it is of an old template')];
    if (!serves(pod)) return []; // the new one first
  }
  return [];
}

function make({ set, claims }: ObservedStatefulSet, number: number, { current, update }: Generations): Action[] {
  const { partition = 0 } = set.spec.updateStrategy?.rollingUpdate ?? {};
  const isBelow = set.spec.updateStrategy?.type !== 'OnDelete' && number < partition + (set.spec.ordinals?.start ?? 0);
  const revision = isBelow ? current : update;
  const template = templateOf(revision) ?? set.spec.template;
  const known = new Set(claims.map(({ metadata }) => metadata.name));
  const missing = claimsOf(set, number).filter(({ metadata }) => !known.has(metadata.name));
  const name = podName(set, number);
  const message = `create Pod ${name} in StatefulSet ${set.metadata.name} successful`;
  return [
    ...missing.map((object): Action => ({ do: 'create', object, because: `Pod ${name} needs it` })),
    {
      do: 'create',
      object: numberedPod(set, { number, template, hash: revisionHash(revision) }),
      because: `number ${number} has no Pod`,
      event: { type: 'Normal', reason: 'SuccessfulCreate', message },
    },
  ];
}

/** Claims of numbers that are not wanted any more, where the set says that they go. */
function leftClaims({ set, claims }: ObservedStatefulSet, wanted: ReadonlySet<number>): Action[] {
  if (set.spec.persistentVolumeClaimRetentionPolicy?.whenScaled !== 'Delete') return [];
  const kept = new Set([...wanted].flatMap((number) => claimsOf(set, number).map(({ metadata }) => metadata.name)));
  return claims
    .filter((claim) => !kept.has(claim.metadata.name) && !isDeleting(claim))
    .map((claim) => ({ do: 'delete', target: refOf(claim), because: 'its Pod is not wanted any more' }));
}

function remove(pod: Pod, because: string): Action {
  const message = `delete Pod ${pod.metadata.name} in StatefulSet successful`;
  return { do: 'delete', target: refOf(pod), because, event: { type: 'Normal', reason: 'SuccessfulDelete', message } };
}

function writeStatus({ set, now }: ObservedStatefulSet, mine: readonly Pod[], generations: Generations): Action[] {
  const status = deriveStatefulSetStatus(set, mine, { ...generations, now });
  const patch = diffAsMergePatch(set.status ?? {}, status);
  if (patch === undefined) return [];
  const because = `${status.replicas} Pods, ${status.readyReplicas ?? 0} ready`;
  const { resourceVersion } = set.metadata;
  return [{ do: 'patch', target: refOf(set), subresource: 'status', patch: { status: patch }, resourceVersion, because }];
}
