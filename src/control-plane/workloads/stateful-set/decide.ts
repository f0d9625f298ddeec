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
 * Names follow from numbers, so nothing is made twice. At most 500 Pods and claims are made or removed in one pass, and a pass costs as much as
 * there are Pods and claims: how many are wanted is a number that anybody may write.
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
import { claimsOf, numberedPod, numberOf, numberOfClaim, podName } from './numbered-pod.ts';
import type { ObservedStatefulSet } from './observed.ts';
import { deriveStatefulSetStatus, type Generations } from './status.ts';

const BURST = 500;

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
  const wanted = wantedOf(set);
  const numbered = mine.map((pod) => ({ pod, number: numberOf(set, pod) ?? -1 })).toSorted((a, b) => b.number - a.number);
  const isParallel = set.spec.podManagementPolicy === 'Parallel';
  const serves = (pod: Pod | undefined) => pod !== undefined && !isDeleting(pod) && isPodAvailable(pod, set.spec.minReadySeconds, now);
  const ended = mine.filter((pod) => isPodFinal(pod) && !isDeleting(pod)).map((pod) => remove(pod, `it is ${pod.status?.phase}`));
  if (ended.length > 0) return ended.slice(0, BURST);
  const growth = grow(observed, numbered, { wanted, isParallel, serves, generations });
  if (growth.actions.length > 0 || growth.isWaiting) return growth.actions;
  const surplus = numbered.filter(({ number }) => !isWanted(wanted, number)).map(({ pod }) => pod);
  if (surplus.length > 0) {
    if (!isParallel && surplus.some(isDeleting)) return [];
    const going = surplus.slice(0, isParallel ? undefined : 1).filter((pod) => !isDeleting(pod));
    return going.slice(0, BURST).map((pod) => remove(pod, `${wanted.end - wanted.first} are wanted`));
  }
  const replaced = replaceOldest(set, numbered, { generations, serves });
  return replaced.length > 0 ? replaced : leftClaims(observed, wanted);
}

/** The numbers that are wanted. There may be two thousand million of them: a range, never a list. */
type Wanted = { readonly first: number; readonly end: number };

function wantedOf({ spec }: StatefulSet): Wanted {
  const first = spec.ordinals?.start ?? 0;
  return { first, end: first + (spec.replicas ?? 1) };
}

function isWanted({ first, end }: Wanted, number: number): boolean {
  return number >= first && number < end;
}

type Numbered = { readonly pod: Pod; readonly number: number };
type Replacing = { readonly generations: Generations; readonly serves: (pod: Pod | undefined) => boolean };
type Growing = Replacing & { readonly wanted: Wanted; readonly isParallel: boolean };

/** Ends at the first number that others wait for, and when there is enough for one pass: it looks at no more numbers than there are Pods, and that many. */
function grow(observed: ObservedStatefulSet, numbered: readonly Numbered[], growing: Growing): { actions: Action[]; isWaiting: boolean } {
  const { wanted, isParallel, serves, generations } = growing;
  const byNumber = new Map(numbered.map(({ pod, number }) => [number, pod]));
  const known = new Set(observed.claims.map(({ metadata }) => metadata.name));
  const actions: Action[] = [];
  for (let number = wanted.first; number < wanted.end && actions.length < BURST; number += 1) {
    const pod = byNumber.get(number);
    if (!pod) actions.push(...make(observed.set, number, { generations, known }));
    if (!isParallel && !serves(pod)) return { actions, isWaiting: true }; // whoever comes after it waits
  }
  return { actions, isWaiting: false };
}

function replaceOldest({ spec }: StatefulSet, highestFirst: readonly Numbered[], { generations, serves }: Replacing): Action[] {
  if (spec.updateStrategy?.type === 'OnDelete') return [];
  const partition = (spec.updateStrategy?.rollingUpdate?.partition ?? 0) + (spec.ordinals?.start ?? 0);
  const hash = revisionHash(generations.update);
  for (const { pod, number } of highestFirst) {
    if (number < partition) return [];
    const isOld = pod.metadata.labels?.[LABEL_CONTROLLER_REVISION_HASH] !== hash;
    if (isOld && !isDeleting(pod)) return [remove(pod, 'it is of an old template')];
    if (!serves(pod)) return []; // the new one first
  }
  return [];
}

type Making = { readonly generations: Generations; readonly known: ReadonlySet<string> };

function make(set: StatefulSet, number: number, { generations: { current, update }, known }: Making): Action[] {
  const { partition = 0 } = set.spec.updateStrategy?.rollingUpdate ?? {};
  const isBelow = set.spec.updateStrategy?.type !== 'OnDelete' && number < partition + (set.spec.ordinals?.start ?? 0);
  const revision = isBelow ? current : update;
  const template = templateOf(revision) ?? set.spec.template;
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
function leftClaims({ set, claims }: ObservedStatefulSet, wanted: Wanted): Action[] {
  if (set.spec.persistentVolumeClaimRetentionPolicy?.whenScaled !== 'Delete') return [];
  return claims
    .filter((claim) => !isWanted(wanted, numberOfClaim(set, claim) ?? -1) && !isDeleting(claim))
    .slice(0, BURST)
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
