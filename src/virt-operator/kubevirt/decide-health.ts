/**
 * How far an installation is, from its workloads and their Pods. The rules, the first that fits:
 *
 *   all rolled out and ready                    ready
 *   never was ready                             deploying
 *   a newer version is being rolled out         updating
 *   every component has a Pod that is ready     degraded
 *   otherwise                                   unavailable
 *
 * and, while it is not ready, the first of these that can be told: a Pod's image cannot be had, a Pod fits no node, no node at all, a Pod that
 * may not be made, a Pod that fails.
 */
import type { Pod } from '../../api/core/pod.ts';
import { type Condition, type KubeObject, keyOf } from '../../api/meta.ts';
import type { InstallationStage, Problem } from '../status/status.ts';

/** A Deployment or a DaemonSet, as far as it is looked at. */
export type Workload = KubeObject & {
  readonly spec?: { readonly replicas?: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
    readonly desiredNumberScheduled?: number;
    readonly updatedNumberScheduled?: number;
    readonly numberAvailable?: number;
    readonly conditions?: readonly Condition[];
  };
};
export type HealthObserved = {
  /** Those that are to be there, undefined for one that is not. */
  readonly workloads: readonly (Workload | undefined)[];
  readonly pods: readonly Pod[];
  readonly version: string;
  /** Whether the KubeVirt object was told ready before. */
  readonly wasReady: boolean;
};
export type Health = { readonly stage: InstallationStage; readonly problem?: Problem };

const LABEL_VERSION = 'app.kubernetes.io/version';
const PULL_FAILURES: ReadonlySet<string> = new Set(['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull']);

export function decideHealth({ workloads, pods, version, wasReady }: HealthObserved): Health {
  const progress = workloads.map((each) => (each ? progressOf(each) : { isRolledOut: false, isReady: false, isWorking: false }));
  if (progress.every(({ isRolledOut, isReady }) => isRolledOut && isReady)) return { stage: 'ready' };
  const problem = findProblem(workloads, pods);
  if (!wasReady) return { stage: 'deploying', problem };
  const isNewer = workloads.some((each, at) => each?.metadata.labels?.[LABEL_VERSION] !== version || progress[at]?.isRolledOut === false);
  if (!progress.every(({ isWorking }) => isWorking)) return { stage: 'unavailable', problem };
  return { stage: isNewer ? 'updating' : 'degraded', problem };
}

/** Whether somebody answers behind this workload. */
export function isWorking(workload: Workload | undefined): boolean {
  return workload !== undefined && progressOf(workload).isWorking;
}

function progressOf({ kind, metadata, spec, status = {} }: Workload) {
  const isSeen = (status.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  const isDaemonSet = kind === 'DaemonSet';
  const wanted = isDaemonSet ? (status.desiredNumberScheduled ?? 0) : (spec?.replicas ?? 1);
  const updated = (isDaemonSet ? status.updatedNumberScheduled : status.updatedReplicas) ?? 0;
  const available = (isDaemonSet ? status.numberAvailable : status.availableReplicas) ?? 0;
  return { isRolledOut: isSeen && updated >= wanted, isReady: available >= wanted && wanted > 0, isWorking: available > 0 };
}

function findProblem(workloads: readonly (Workload | undefined)[], pods: readonly Pod[]): Problem | undefined {
  for (const look of [imageProblem, placeProblem])
    for (const pod of pods) {
      const problem = look(pod);
      if (problem) return problem;
    }
  return (
    workloads.flatMap((each) => (each && (noNodes(each) ?? refusedPods(each))) ?? [])[0] ?? pods.flatMap((pod) => failing(pod) ?? [])[0]
  );
}

function imageProblem(pod: Pod): Problem | undefined {
  for (const { image, state } of pod.status?.containerStatuses ?? []) {
    const { reason = '', message = '' } = state?.waiting ?? {};
    if (PULL_FAILURES.has(reason))
      return {
        reason: 'ImageCannotBePulled',
        message: `Pod ${pod.metadata.name} cannot get its image ${image} (${reason}: ${message}). Push it there, or set spec.imageRegistry, spec.imageTag or spec.imagePullSecrets of the KubeVirt object.`,
      };
  }
  return undefined;
}

function placeProblem(pod: Pod): Problem | undefined {
  const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (scheduled?.status !== 'False') return undefined;
  return {
    reason: 'NoNodeFits',
    message: `No node takes Pod ${pod.metadata.name}: ${scheduled.message ?? scheduled.reason ?? 'it is not scheduled'}. Make room on a node, or set spec.infra.nodePlacement of the KubeVirt object.`,
  };
}

function noNodes({ kind, metadata, status }: Workload): Problem | undefined {
  if (kind !== 'DaemonSet' || status?.observedGeneration === undefined || (status.desiredNumberScheduled ?? 0) > 0) return undefined;
  return {
    reason: 'NoNodes',
    message: `No node takes ${metadata.name}, so no machine can run. Add a Linux node, uncordon one, or set spec.workloads.nodePlacement of the KubeVirt object.`,
  };
}

function refusedPods(workload: Workload): Problem | undefined {
  const failure = workload.status?.conditions?.find(({ type, status }) => type === 'ReplicaFailure' && status === 'True');
  if (!failure) return undefined;
  return { reason: 'PodsRefused', message: `Pods of ${keyOf(workload.metadata)} cannot be made: ${failure.message}` };
}

function failing(pod: Pod): Problem | undefined {
  const status = pod.status?.containerStatuses?.find(({ state }) => state?.waiting?.reason === 'CrashLoopBackOff');
  if (!status) return undefined;
  return {
    reason: 'ComponentFails',
    message: `Pod ${pod.metadata.name} ends again and again. See kubectl -n ${pod.metadata.namespace} logs ${pod.metadata.name}.`,
  };
}
