/** What a Pod's status says, from what the kubelet sees of its containers. Conditions of others are kept as they are. Pure. */
import { type ContainerStatus, containerIn, isPodFinal, isSidecar, type Pod, type PodPhase, type PodStatus } from '../../api/core/pod.ts';
import { type Condition, conditionOf, hasCondition, isDeleting } from '../../api/meta.ts';
import { timestamp } from '../../base/timestamp.ts';
import { type ContainerRecord, crashDelayMs, type Ended, restartAtMs, type Setback, waitingFor } from './container-record.ts';
import { qosClassOf } from './default-qos-class.ts';

export type StatusInput = {
  readonly pod: Pod;
  readonly containers: readonly ContainerRecord[];
  readonly volumes: 'absent' | 'preparing' | 'ready' | Setback;
  readonly podIP: string;
  readonly hostIP: string;
  readonly now: number;
};

/** Condition types that only the kubelet writes; PodScheduled is the scheduler's. */
const OWN_CONDITIONS = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady'];

/** The whole status, ready to be compared with what the API has. */
export function derivePodStatus(input: StatusInput): PodStatus {
  const { pod, containers, podIP, hostIP, now } = input;
  const phase = isPodFinal(pod) ? (pod.status?.phase ?? 'Failed') : phaseOf(pod, containers); // nobody comes back from the end
  const statuses = (isInit: boolean) =>
    containers.filter((each) => each.isInit === isInit && !each.isEphemeral).map((each) => containerStatus(each, input));
  const containerStatuses = statuses(false);
  const initContainerStatuses = statuses(true);
  const ephemeralContainerStatuses = containers.filter((each) => each.isEphemeral).map((each) => containerStatus(each, input));
  return {
    phase,
    conditions: conditionsOf({
      ...input,
      phase,
      containerStatuses: [...initContainerStatuses.filter((each) => isSidecar(pod, each.name)), ...containerStatuses],
    }),
    hostIP,
    podIP,
    podIPs: [{ ip: podIP }],
    startTime: pod.status?.startTime ?? timestamp(now),
    qosClass: pod.status?.qosClass ?? qosClassOf(pod),
    containerStatuses,
    ...(initContainerStatuses.length > 0 && { initContainerStatuses }),
    ...(ephemeralContainerStatuses.length > 0 && { ephemeralContainerStatuses }),
  };
}

/** Pending until a container has started; final when no container will run again. */
export function phaseOf(pod: Pod, containers: readonly ContainerRecord[]): PodPhase {
  const init = containers.filter((container) => container.isInit && !isSidecar(pod, container.name));
  const main = containers.filter((container) => !container.isInit && !container.isEphemeral);
  if (init.some((each) => each.run.is === 'ended' && each.run.exitCode !== 0 && !restartsAfter(pod, each, each.run.exitCode)))
    return 'Failed';
  const exitCodes = main.map((each) =>
    each.run.is === 'ended' && !restartsAfter(pod, each, each.run.exitCode) ? each.run.exitCode : undefined,
  );
  if (main.length > 0 && exitCodes.every((code) => code !== undefined))
    return exitCodes.every((code) => code === 0) ? 'Succeeded' : 'Failed';
  return main.some((each) => each.run.is !== 'waiting' || each.restartCount > 0) ? 'Running' : 'Pending';
}

/** True when the restart policy wants another run after one that ended like this. */
export function restartsAfter(
  pod: Pod,
  { name, isInit, isEphemeral }: Pick<ContainerRecord, 'name' | 'isInit' | 'isEphemeral'>,
  exitCode: number,
): boolean {
  if (isDeleting(pod) || isEphemeral) return false;
  if (isInit && isSidecar(pod, name)) return !isPodFinal(pod);
  switch (pod.spec.restartPolicy ?? 'Always') {
    case 'Always':
      return !isInit || exitCode !== 0; // an init container has done its work when it succeeds
    case 'OnFailure':
      return exitCode !== 0;
    case 'Never':
      return false;
  }
}

/** True when the next container of the Pod may start. */
export function isInitialized(pod: Pod, { name, run, isStarted }: ContainerRecord): boolean {
  if (isSidecar(pod, name)) return run.is === 'running' && isStarted !== false;
  return run.is === 'ended' && run.exitCode === 0;
}

function containerStatus(container: ContainerRecord, input: StatusInput): ContainerStatus {
  const { pod } = input;
  const { name, isInit, restartCount, run } = container;
  const spec = containerIn(pod, name);
  const image = spec?.image ?? '';
  const hasRun = run.is !== 'waiting';
  const state = stateOf(container, input);
  const last = run.is === 'ended' && state.waiting ? run : container.last;
  return {
    name,
    image,
    imageID: hasRun ? image : '',
    ...(hasRun && { containerID: containerIdOf(pod, container) }),
    ready: isInit && !isSidecar(pod, name) ? isInitialized(pod, container) : run.is === 'running' && isCountedReady(container),
    started: run.is === 'running' && container.isStarted !== false,
    restartCount,
    state,
    lastState: last ? { terminated: terminated(last) } : {},
  };
}

/** Nobody waits for a container that was put beside the others. */
function isCountedReady({ isReady, isEphemeral }: ContainerRecord): boolean {
  return !isEphemeral && isReady !== false;
}

function containerIdOf(pod: Pod, { name, restartCount }: ContainerRecord): string {
  return `process://${pod.metadata.uid}-${name}-${restartCount}`;
}

function stateOf(container: ContainerRecord, { pod, containers, volumes, now }: StatusInput): NonNullable<ContainerStatus['state']> {
  const { run, setback, name, isInit } = container;
  const isBlocked = typeof volumes === 'object' ? volumes : setback;
  switch (run.is) {
    case 'running':
      return { running: { startedAt: timestamp(run.startedAtMs) } };
    case 'waiting': {
      if (isBlocked) return { waiting: waitingFor(isBlocked, now) };
      const isItsTurn = isInit || container.isEphemeral || containers.every((each) => !each.isInit || isInitialized(pod, each));
      return { waiting: { reason: isItsTurn ? 'ContainerCreating' : 'PodInitializing' } };
    }
    case 'ended': {
      if (!restartsAfter(pod, container, run.exitCode)) return { terminated: terminated(run) };
      if (isBlocked) return { waiting: waitingFor(isBlocked, now) };
      if (restartAtMs({ ...container, run }) <= now) return { terminated: terminated(run) };
      const { metadata } = pod;
      const which = `container=${name} pod=${metadata.name}_${metadata.namespace}(${metadata.uid})`;
      const message = `back-off ${crashDelayMs(container) / 1000}s restarting failed ${which}`;
      return { waiting: { reason: 'CrashLoopBackOff', message } };
    }
  }
}

function terminated({ exitCode, signal, reason, message, startedAtMs, finishedAtMs }: Ended) {
  return {
    exitCode,
    ...(signal && { signal }),
    reason,
    ...(message && { message }),
    ...(startedAtMs !== undefined && { startedAt: timestamp(startedAtMs) }),
    finishedAt: timestamp(finishedAtMs),
  };
}

type Finding = readonly [type: string, status: boolean, reason?: string, message?: string];
type ConditionInput = StatusInput & { readonly phase: PodPhase; readonly containerStatuses: readonly ContainerStatus[] };

function conditionsOf(input: ConditionInput): Condition[] {
  const { pod, now } = input;
  const before = pod.status?.conditions ?? [];
  const containersReady = containersReadiness(input);
  const findings: Finding[] = [
    ['PodReadyToStartContainers', input.volumes === 'ready' || input.containers.some((each) => each.run.is !== 'waiting')],
    initialized(input),
    ['Ready', ...readiness(pod, containersReady)],
    ['ContainersReady', ...containersReady],
  ];
  const own = findings.map((finding) => toCondition(finding, before, now));
  const scheduled = before.some(({ type }) => type === 'PodScheduled') ? [] : [toCondition(['PodScheduled', true], before, now)];
  return [...own, ...before.filter(({ type }) => !OWN_CONDITIONS.includes(type)), ...scheduled];
}

function toCondition([type, isTrue, reason, message]: Finding, before: readonly Condition[], now: number): Condition {
  const status = isTrue ? 'True' : 'False';
  const old = conditionOf(before, type);
  const lastTransitionTime = old?.status === status ? old.lastTransitionTime : timestamp(now);
  return { type, status, ...(reason && { reason }), ...(message && { message }), lastTransitionTime };
}

function initialized({ pod, containers, phase }: ConditionInput): Finding {
  const unfinished = containers.filter((each) => each.isInit && !isInitialized(pod, each) && !hasBegun(pod, containers, each));
  if (unfinished.length === 0) return ['Initialized', true, phase === 'Succeeded' ? 'PodCompleted' : undefined];
  const names = unfinished.map(({ name }) => name).join(' ');
  return ['Initialized', false, 'ContainersNotInitialized', `containers with incomplete status: [${names}]`];
}

/** A sidecar that falls over later does not make the Pod uninitialized again. */
function hasBegun(pod: Pod, containers: readonly ContainerRecord[], { name }: ContainerRecord): boolean {
  return (
    isSidecar(pod, name) &&
    containers.some((each) => !each.isInit && !each.isEphemeral && (each.run.is !== 'waiting' || each.restartCount > 0))
  );
}

type Readiness = readonly [status: boolean, reason?: string, message?: string];

function containersReadiness({ phase, containerStatuses }: ConditionInput): Readiness {
  if (phase === 'Succeeded') return [false, 'PodCompleted'];
  if (phase === 'Failed') return [false, 'PodFailed'];
  const unready = containerStatuses.filter(({ ready }) => !ready).map(({ name }) => name);
  return unready.length === 0 ? [true] : [false, 'ContainersNotReady', `containers with unready status: [${unready.join(' ')}]`];
}

function readiness(pod: Pod, containersReady: Readiness): Readiness {
  if (!containersReady[0]) return containersReady;
  const conditions = pod.status?.conditions;
  const closed = (pod.spec.readinessGates ?? []).map((gate) => gate.conditionType).filter((type) => !hasCondition(conditions, type));
  if (closed.length === 0) return [true];
  const why = closed.map((type) => {
    const found = conditionOf(conditions, type);
    return found
      ? `the status of pod readiness gate "${type}" is not "True", but ${found.status}`
      : `corresponding condition of pod readiness gate "${type}" does not exist.`;
  });
  return [false, 'ReadinessGatesNotReady', why.join(', ')];
}
