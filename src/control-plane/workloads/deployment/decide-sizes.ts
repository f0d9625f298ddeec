/**
 * How many Pods each ReplicaSet of a Deployment should have next. Pure.
 *
 *   strategy        when                                           then
 *   any             the wanted number was changed                  the sets share the difference, each by its size
 *   RollingUpdate   there is room below wanted + maxSurge          the current set grows by it
 *   RollingUpdate   old Pods that are not available                go first: they serve nobody
 *   RollingUpdate   more are available than wanted - maxUnavailable  old sets shrink by the difference, oldest first
 *   Recreate        old sets have Pods                             they shrink to nothing
 *   Recreate        no old Pod is left                             the current set grows to the wanted number
 *
 *   any             more Pods than wanted + maxSurge would be there  nothing grows until those of old sets are gone
 *
 * What a set has available is never taken for more than what it was told to have: its status may be behind. And what it holds is never
 * taken for less than what it last said: a set that was told to shrink has its Pods until it has confirmed that (observedGeneration).
 */
import { ANNOTATION_DESIRED_REPLICAS, ANNOTATION_MAX_REPLICAS, type Deployment } from '../../../api/core/deployment.ts';
import type { ReplicaSet } from '../../../api/core/replica-set.ts';
import { type Revisions, roomOf } from './revisions.ts';

/** The size that each of these sets should have. */
export type Sizes = ReadonlyMap<ReplicaSet, number>;

export function sizeOf({ spec }: ReplicaSet): number {
  return spec.replicas ?? 1;
}

/** A set that has Pods was scaled for another number than is wanted now. */
export function isScaled({ spec }: Deployment, { all }: Revisions): boolean {
  return all.some((set) => {
    const desired = set.metadata.annotations?.[ANNOTATION_DESIRED_REPLICAS];
    return sizeOf(set) > 0 && desired !== undefined && Number(desired) !== (spec.replicas ?? 1);
  });
}

/** After a change of the wanted number: of every set that has Pods or gets some, also where the number stays. */
export function sizesAfterScaling(deployment: Deployment, revisions: Revisions): Sizes {
  const active = revisions.all.filter((set) => sizeOf(set) > 0);
  return new Map([...active.map((set) => [set, sizeOf(set)] as const), ...changedSizes(deployment, revisions)]);
}

/** These sizes let a set grow while Pods are there that leave no room for it. */
export function isTooEarly({ spec }: Deployment, { all }: Revisions, sizes: Sizes): boolean {
  const next = (set: ReplicaSet) => sizes.get(set) ?? sizeOf(set);
  const isGrowth = all.some((set) => next(set) > sizeOf(set));
  return isGrowth && sum(all, (set) => Math.max(heldBy(set), next(set))) > (spec.replicas ?? 1) + roomOf(spec).surge;
}

function changedSizes({ spec }: Deployment, { current, all }: Revisions): Sizes {
  const wanted = spec.replicas ?? 1;
  const active = all.filter((set) => sizeOf(set) > 0);
  const only = active.length > 1 ? undefined : (active[0] ?? current ?? all.at(-1));
  if (only) return new Map([[only, wanted]]);
  const isSaturated = current && sizeOf(current) === wanted && (current.status?.availableReplicas ?? 0) === wanted;
  if (isSaturated) return new Map(active.filter((set) => set !== current).map((set) => [set, 0]));
  if (spec.strategy?.type === 'Recreate') return new Map();
  return shared(active, wanted > 0 ? wanted + roomOf(spec).surge : 0);
}

/** Each by its size; what is left over by rounding goes to the largest, or comes from it. */
function shared(active: readonly ReplicaSet[], allowed: number): Sizes {
  const total = sum(active, sizeOf);
  const difference = allowed - total;
  const newestFirst = active.toReversed();
  const largestFirst = (difference > 0 ? newestFirst : active).toSorted((a, b) => sizeOf(b) - sizeOf(a));
  let left = difference;
  const sizes = new Map<ReplicaSet, number>();
  for (const set of largestFirst) {
    const before = Number(set.metadata.annotations?.[ANNOTATION_MAX_REPLICAS]) || total;
    const share = Math.round((sizeOf(set) * allowed) / before) - sizeOf(set);
    const part = difference > 0 ? Math.max(0, Math.min(share, left)) : Math.min(0, Math.max(share, left));
    sizes.set(set, Math.max(0, sizeOf(set) + part));
    left -= part;
  }
  const [largest] = largestFirst;
  if (largest && left !== 0) sizes.set(largest, Math.max(0, (sizes.get(largest) ?? 0) + left));
  return sizes;
}

/** How many Pods the set of the current template gets next. */
export function nextSizeOfCurrent({ spec }: Deployment, { current, all }: Revisions): number {
  const wanted = spec.replicas ?? 1;
  const size = current ? sizeOf(current) : 0;
  if (spec.strategy?.type === 'Recreate' || size > wanted) return wanted;
  const room = wanted + roomOf(spec).surge - sum(all, heldBy);
  return size + Math.max(0, Math.min(room, wanted - size));
}

/** How far old sets may shrink now. */
export function nextSizesOfOld({ spec }: Deployment, { current, old, all }: Revisions): Sizes {
  const wanted = spec.replicas ?? 1;
  if (spec.strategy?.type === 'Recreate') return new Map(old.filter((set) => sizeOf(set) > 0).map((set) => [set, 0]));
  const least = wanted - roomOf(spec).unavailable;
  const notYet = current ? sizeOf(current) - availableOf(current) : 0;
  let mayGo = sum(all, sizeOf) - least - notYet;
  const sizes = new Map(old.map((set) => [set, sizeOf(set)]));
  for (const set of old) {
    const idle = Math.max(0, Math.min(mayGo, sizeOf(set) - availableOf(set)));
    sizes.set(set, sizeOf(set) - idle);
    mayGo -= idle;
  }
  let spare = Math.min(mayGo, sum(all, availableOf) - least);
  for (const set of old) {
    const part = Math.max(0, Math.min(spare, sizes.get(set) ?? 0));
    sizes.set(set, (sizes.get(set) ?? 0) - part);
    spare -= part;
  }
  return new Map([...sizes].filter(([set, size]) => size !== sizeOf(set)));
}

/** How many Pods a set has at most. Until it has seen its last change, nobody knows; one that was never changed has no more than it was made with. */
function heldBy(set: ReplicaSet): number {
  const { generation = 1 } = set.metadata;
  const { observedGeneration = 0, replicas = 0 } = set.status ?? {};
  if (observedGeneration >= generation) return Math.max(sizeOf(set), replicas);
  return generation === 1 ? sizeOf(set) : Number.POSITIVE_INFINITY;
}

function availableOf(set: ReplicaSet): number {
  return Math.min(sizeOf(set), set.status?.availableReplicas ?? 0);
}

function sum(sets: readonly ReplicaSet[], of: (set: ReplicaSet) => number): number {
  return sets.reduce((total, set) => total + of(set), 0);
}
