/**
 * What should happen to one Deployment, given every ReplicaSet that may be its own.
 *
 *   when, first match                                        then
 *   selector empty                                           nothing: it would be all sets
 *   an orphan fits the selector, or one of ours does not     adopt it, release it
 *   being deleted                                            write the status, nothing else
 *   the wanted number was changed, or paused                 the sets share it (decide-sizes.ts); a paused one rolls nothing out
 *   the template has no set, and somebody has its name       count the collision: the next hash is another
 *   the template has no set                                  make it, with as many Pods as there is room for (Recreate: none of the old may be left)
 *   its set has another number, minReadySeconds or notes     change them: `rollout undo` makes an old set the newest again
 *   the set of the template may grow                         let it grow
 *   old sets may shrink                                      let them shrink
 *   all is rolled out                                        delete the oldest empty sets beyond revisionHistoryLimit
 *
 * The status goes with each of them, and with it the number of the rollout on the Deployment itself.
 *
 * Pure: no clock, no I/O, no randomness.
 */
import { ANNOTATION_REVISION, ANNOTATION_REVISION_HISTORY, type Deployment } from '../../../api/core/deployment.ts';
import type { ReplicaSet } from '../../../api/core/replica-set.ts';
import { controllerOf, isControlledBy, isDeleting, refOf } from '../../../api/meta.ts';
import { deepEqual, diffAsMergePatch, isObject } from '../../../base/json.ts';
import { matchesLabels, requirementsOf } from '../../../base/selectors.ts';
import { adopt, release } from '../../../reconcile/decide-owner.ts';
import { type Action, type Decision, nothingToDo } from '../../../reconcile/decision.ts';
import { isScaled, isTooEarly, nextSizeOfCurrent, nextSizesOfOld, type Sizes, sizeOf, sizesAfterScaling } from './decide-sizes.ts';
import type { ObservedDeployment } from './observed.ts';
import { copiedAnnotations, isSameTemplate, newReplicaSet, type Revisions, revisionOf, revisionsOf, sizeAnnotations } from './revisions.ts';
import { deadlineMs, deriveDeploymentStatus, isComplete } from './status.ts';

/** The rules above, for one Deployment. */
export function decideDeployment(observed: ObservedDeployment): Decision {
  const { deployment, replicaSets, now } = observed;
  if (requirementsOf(deployment.spec.selector).length === 0) return nothingToDo;
  const ownership = isDeleting(deployment) ? [] : adoptOrRelease(observed);
  if (ownership.length > 0) return { actions: ownership };
  const revisions = revisionsOf(deployment, replicaSets);
  const { actions, made } = isDeleting(deployment) ? { actions: [] } : nextSteps(observed, revisions);
  const status = deriveDeploymentStatus({ deployment, revisions, now, ...(made && { made }) });
  const lookAgainAfterMs = deadlineMs(deployment, status, now);
  return {
    actions: [...actions, ...writeStatus(deployment, revisions, { ...status, ...collision(observed, revisions) })],
    ...(lookAgainAfterMs !== undefined && { lookAgainAfterMs }),
  };
}

function adoptOrRelease({ deployment, replicaSets, mayAdopt }: ObservedDeployment): Action[] {
  const requirements = requirementsOf(deployment.spec.selector);
  return replicaSets.flatMap((set) => {
    const isMine = isControlledBy(set, deployment);
    const fits = matchesLabels(requirements, set.metadata.labels);
    if (isMine && !fits) return [release(deployment, set)];
    return !isMine && fits && mayAdopt && !isDeleting(set) ? [adopt(deployment, set)] : [];
  });
}

type Steps = { readonly actions: readonly Action[]; readonly made?: string };

function nextSteps(observed: ObservedDeployment, revisions: Revisions): Steps {
  const { deployment, holder } = observed;
  const { current } = revisions;
  if (deployment.spec.paused || isScaled(deployment, revisions)) {
    const sizes = sizesAfterScaling(deployment, revisions);
    return { actions: isTooEarly(deployment, revisions, sizes) ? [] : resize(deployment, sizes) };
  }
  const isRecreate = deployment.spec.strategy?.type === 'Recreate';
  const old = nextSizesOfOld(deployment, revisions);
  if (isRecreate && (old.size > 0 || hasOldPods(observed, revisions))) return { actions: resize(deployment, old) };
  if (!current) return holder ? { actions: [] } : make(deployment, revisions);
  const renewed = renew(deployment, current, revisions);
  if (renewed.length > 0) return { actions: renewed };
  const size = nextSizeOfCurrent(deployment, revisions);
  if (size !== sizeOf(current)) return { actions: resize(deployment, new Map([[current, size]])) };
  if (old.size > 0) return { actions: resize(deployment, old) };
  return { actions: isComplete(deployment, revisions) ? forget(deployment, revisions) : [] };
}

function hasOldPods({ pods }: ObservedDeployment, { current }: Revisions): boolean {
  return pods.some((pod) => controllerOf(pod)?.uid !== current?.metadata.uid);
}

/** Somebody else has the name of the next set: with the next count it is called differently. */
function collision({ deployment, holder }: ObservedDeployment, { current }: Revisions): { collisionCount?: number } {
  if (current || !holder || isDeleting(deployment) || deployment.spec.paused) return {};
  const isOurs = isControlledBy(holder, deployment) && isSameTemplate(holder.spec.template, deployment.spec.template);
  return isOurs ? {} : { collisionCount: (deployment.status?.collisionCount ?? 0) + 1 };
}

function make(deployment: Deployment, revisions: Revisions): Steps {
  const replicas = nextSizeOfCurrent(deployment, revisions);
  const object = newReplicaSet(deployment, { replicas, revision: revisions.revision });
  const { name } = object.metadata;
  const event = { type: 'Normal', reason: 'ScalingReplicaSet', message: `Scaled up replica set ${name} from 0 to ${replicas}` } as const;
  return {
    actions: [{ do: 'create', object, because: 'the template has no ReplicaSet', ...(replicas > 0 && { event }) }],
    made: name,
  };
}

/** The set of the template as it should be called and noted; its size is another matter. */
function renew(deployment: Deployment, set: ReplicaSet, { revision }: Revisions): Action[] {
  const before = revisionOf(set);
  const history = set.metadata.annotations?.[ANNOTATION_REVISION_HISTORY];
  const annotations = {
    ...set.metadata.annotations,
    ...copiedAnnotations(deployment),
    [ANNOTATION_REVISION]: `${revision}`,
    ...(before > 0 && before < revision && { [ANNOTATION_REVISION_HISTORY]: [history, before].filter(Boolean).join(',') }),
  };
  const { minReadySeconds } = deployment.spec;
  const isSame = deepEqual(annotations, set.metadata.annotations) && (set.spec.minReadySeconds ?? 0) === (minReadySeconds ?? 0);
  if (isSame) return [];
  const patch = { metadata: { annotations }, spec: { minReadySeconds: minReadySeconds ?? null } };
  const because = before < revision ? `it is revision ${revision} now` : 'the Deployment says so';
  return [{ do: 'patch', target: refOf(set), patch, resourceVersion: set.metadata.resourceVersion, because }];
}

/** Gives sets their sizes, and notes for which size of the Deployment that was. */
function resize(deployment: Deployment, sizes: Sizes): Action[] {
  const annotations = sizeAnnotations(deployment);
  const isSame = (set: ReplicaSet, size: number) =>
    size === sizeOf(set) && Object.entries(annotations).every(([name, value]) => set.metadata.annotations?.[name] === value);
  const changed = [...sizes].filter(([set, size]) => !isSame(set, size));
  return changed.map(([set, size]): Action => {
    const word = size > sizeOf(set) ? 'up' : 'down';
    const message = `Scaled ${word} replica set ${set.metadata.name} from ${sizeOf(set)} to ${size}`;
    return {
      do: 'patch',
      target: refOf(set),
      patch: { metadata: { annotations }, spec: { replicas: size } },
      resourceVersion: set.metadata.resourceVersion,
      because: `${size} Pods of it, ${deployment.spec.replicas ?? 1} in all`,
      ...(size !== sizeOf(set) && { event: { type: 'Normal', reason: 'ScalingReplicaSet', message } }),
    };
  });
}

/** The oldest empty sets that nobody will go back to. */
function forget({ spec }: Deployment, { old }: Revisions): Action[] {
  const limit = spec.revisionHistoryLimit ?? 10;
  const isEmpty = (set: ReplicaSet) =>
    sizeOf(set) === 0 &&
    (set.status?.replicas ?? 0) === 0 &&
    (set.status?.observedGeneration ?? 0) >= (set.metadata.generation ?? 0) &&
    !isDeleting(set);
  const surplus = old.length - limit;
  if (surplus <= 0) return [];
  return old
    .filter(isEmpty)
    .toSorted((a, b) => revisionOf(a) - revisionOf(b))
    .slice(0, surplus)
    .map((set) => ({ do: 'delete', target: refOf(set), because: `${old.length} old revisions, ${limit} are kept` }));
}

function writeStatus(deployment: Deployment, { current, revision }: Revisions, status: object): Action[] {
  const patch = diffAsMergePatch(deployment.status ?? {}, status);
  const known = deployment.metadata.annotations?.[ANNOTATION_REVISION];
  const isKnown = known === `${revision}` || (!current && known !== undefined);
  if (patch === undefined && isKnown) return [];
  const { resourceVersion } = deployment.metadata;
  return [
    {
      do: 'patch',
      target: refOf(deployment),
      subresource: 'status',
      patch: {
        ...(isObject(patch) && { status: patch }),
        ...(!isKnown && { metadata: { annotations: { [ANNOTATION_REVISION]: `${revision}` } } }),
      },
      resourceVersion,
      because: 'its ReplicaSets have changed',
    },
  ];
}
