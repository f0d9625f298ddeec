/**
 * The status of a Deployment that follows from its ReplicaSets. `kubectl rollout status` reads the numbers and the reasons. Pure.
 *
 *   Progressing   when, first match                                        reason
 *   Unknown       paused, or no longer paused                              DeploymentPaused, DeploymentResumed
 *   True          a set was made                                           NewReplicaSetCreated
 *   True          everything is as wanted                                  NewReplicaSetAvailable
 *   True          more new, fewer old, more ready or more available Pods   ReplicaSetUpdated
 *   False         nothing of this for progressDeadlineSeconds              ProgressDeadlineExceeded
 *   True          a set of the template was there already                  FoundNewReplicaSet
 */
import type { Deployment, DeploymentCondition, DeploymentStatus } from '../../../api/core/deployment.ts';
import type { ReplicaSet } from '../../../api/core/replica-set.ts';
import { type Condition, conditionOf } from '../../../api/meta.ts';
import { timestamp } from '../../../base/timestamp.ts';
import { sizeOf } from './decide-sizes.ts';
import { type Revisions, roomOf } from './revisions.ts';

/** Kubernetes' word for: no deadline. */
const NO_DEADLINE = 2 ** 31 - 1;

type Numbers = Required<Pick<DeploymentStatus, 'replicas' | 'updatedReplicas' | 'readyReplicas' | 'availableReplicas'>>;
type Said = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;
export type StatusOptions = {
  readonly deployment: Deployment;
  readonly revisions: Revisions;
  readonly now: number;
  readonly made?: string;
};

/** The whole status; `made` is the name of a set that is being made. */
export function deriveDeploymentStatus(options: StatusOptions): DeploymentStatus {
  const { deployment, revisions, now } = options;
  const numbers = numbersOf(revisions);
  const unavailable = Math.max(0, sum(revisions.all, sizeOf) - numbers.availableReplicas);
  return {
    observedGeneration: deployment.metadata.generation,
    replicas: numbers.replicas || undefined,
    updatedReplicas: numbers.updatedReplicas || undefined,
    readyReplicas: numbers.readyReplicas || undefined,
    availableReplicas: numbers.availableReplicas || undefined,
    unavailableReplicas: unavailable || undefined,
    collisionCount: deployment.status?.collisionCount,
    conditions: conditionsAfter(options, numbers, now),
  };
}

/** Every Pod is of the current template, there and available. */
export function isComplete({ spec }: Deployment, revisions: Revisions): boolean {
  const { replicas, updatedReplicas, availableReplicas } = numbersOf(revisions);
  const wanted = spec.replicas ?? 1;
  return updatedReplicas === wanted && replicas === wanted && availableReplicas === wanted;
}

/** In how long the deadline for progress runs out; undefined when none runs. */
export function deadlineMs({ spec }: Deployment, { conditions }: DeploymentStatus, now: number): number | undefined {
  const progressing = conditionOf(conditions, 'Progressing') as DeploymentCondition | undefined; // all of this kind have lastUpdateTime
  const seconds = deadlineOf(spec);
  const isRunning = progressing?.status === 'True' && progressing.reason !== 'NewReplicaSetAvailable';
  if (seconds === undefined || !isRunning || spec.paused) return undefined;
  return Math.max(0, Date.parse(progressing.lastUpdateTime ?? '') + seconds * 1000 - now);
}

function deadlineOf({ progressDeadlineSeconds: seconds }: Deployment['spec']): number | undefined {
  return seconds === NO_DEADLINE ? undefined : seconds;
}

function numbersOf({ current, all }: Revisions): Numbers {
  return {
    replicas: sum(all, ({ status }) => status?.replicas ?? 0),
    updatedReplicas: current?.status?.replicas ?? 0,
    readyReplicas: sum(all, ({ status }) => status?.readyReplicas ?? 0),
    availableReplicas: sum(all, ({ status }) => status?.availableReplicas ?? 0),
  };
}

function conditionsAfter(options: StatusOptions, numbers: Numbers, now: number): readonly DeploymentCondition[] {
  const { deployment, revisions } = options;
  const { spec, status } = deployment;
  const isEnough = numbers.availableReplicas >= (spec.replicas ?? 1) - roomOf(spec).unavailable;
  const available: Said = isEnough
    ? { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', message: 'Deployment has minimum availability.' }
    : {
        type: 'Available',
        status: 'False',
        reason: 'MinimumReplicasUnavailable',
        message: 'Deployment does not have minimum availability.',
      };
  let conditions = withSaid(status?.conditions ?? [], available, now);
  const progress = deadlineOf(spec) === undefined ? undefined : progressOf(options, numbers);
  if (progress) conditions = withSaid(conditions, progress.said, now, progress.isNews);
  const failed = [revisions.current, ...revisions.old].flatMap((set) => conditionOf(set?.status?.conditions, 'ReplicaFailure') ?? [])[0];
  if (!failed) return conditions.filter(({ type }) => type !== 'ReplicaFailure');
  const { reason, message } = failed;
  return withSaid(conditions, { type: 'ReplicaFailure', status: failed.status, reason, message }, now);
}

/** What is to be said of the progress, if something is; news renew the deadline even in the same words. */
function progressOf({ deployment, revisions, now, made }: StatusOptions, numbers: Numbers): { said: Said; isNews?: boolean } | undefined {
  const { spec, status = {}, metadata } = deployment;
  const before = conditionOf(status.conditions, 'Progressing') as DeploymentCondition | undefined; // as above
  const said = (status: Condition['status'], reason: string, message: string) => ({
    said: { type: 'Progressing', status, reason, message },
  });
  const set = `ReplicaSet "${revisions.current?.metadata.name ?? metadata.name}"`;
  if (spec.paused && before?.reason === 'ProgressDeadlineExceeded') return undefined;
  if (spec.paused) return said('Unknown', 'DeploymentPaused', 'Deployment is paused');
  if (made) return { ...said('True', 'NewReplicaSetCreated', `Created new replica set "${made}"`), isNews: true };
  if (before?.reason === 'DeploymentPaused') return { ...said('Unknown', 'DeploymentResumed', 'Deployment is resumed'), isNews: true };
  const wasComplete = before?.reason === 'NewReplicaSetAvailable';
  if (wasComplete && numbers.replicas === numbers.updatedReplicas) return undefined;
  if (isComplete(deployment, revisions)) return said('True', 'NewReplicaSetAvailable', `${set} has successfully progressed.`);
  if (hasProgressed(status, numbers)) return { ...said('True', 'ReplicaSetUpdated', `${set} is progressing.`), isNews: true };
  if (before && !wasComplete && isLate(spec, before, now))
    return said('False', 'ProgressDeadlineExceeded', `${set} has timed out progressing.`);
  return before ? undefined : said('True', 'FoundNewReplicaSet', `Found new replica set "${revisions.current?.metadata.name}"`);
}

function hasProgressed(before: DeploymentStatus, now: Numbers): boolean {
  const old = (numbers: DeploymentStatus) => (numbers.replicas ?? 0) - (numbers.updatedReplicas ?? 0);
  return (
    now.updatedReplicas > (before.updatedReplicas ?? 0) ||
    old(now) < old(before) ||
    now.readyReplicas > (before.readyReplicas ?? 0) ||
    now.availableReplicas > (before.availableReplicas ?? 0)
  );
}

function isLate(spec: Deployment['spec'], { reason, lastUpdateTime = '' }: DeploymentCondition, now: number): boolean {
  if (reason === 'ProgressDeadlineExceeded') return true;
  return Date.parse(lastUpdateTime) + (deadlineOf(spec) ?? 0) * 1000 <= now;
}

/** The same list when it says that already and it is no news. */
function withSaid(conditions: readonly DeploymentCondition[], said: Said, now: number, isNews = false): readonly DeploymentCondition[] {
  const old = conditions.find(({ type }) => type === said.type);
  if (old && old.status === said.status && old.reason === said.reason && !isNews) return conditions;
  const at = timestamp(now);
  const lastTransitionTime = old?.status === said.status ? old.lastTransitionTime : at;
  return [...conditions.filter(({ type }) => type !== said.type), { ...said, lastUpdateTime: at, lastTransitionTime }];
}

function sum(sets: readonly ReplicaSet[], of: (set: ReplicaSet) => number): number {
  return sets.reduce((total, set) => total + of(set), 0);
}
