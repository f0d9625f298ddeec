/**
 * What should happen to the containers of one Pod of this node.
 *
 *   Pod                              containers                        what happens
 *   unknown to this store            some run                          leave them alone: it cannot have deleted the Pod
 *   gone from the API                some run                          kill them
 *                                    none runs                         clean up
 *   being deleted                    run, not told                     stop signal (kill when the grace period is 0)
 *                                    run, told, grace period is over   kill
 *                                    none runs                         clean up
 *   Succeeded or Failed              some run                          as when being deleted, but nothing is cleaned up
 *   otherwise                        one is to start, no volumes yet   prepare the volumes
 *                                    init containers                   one after the other, each until it succeeds; a sidecar until it has started
 *                                    the others                        start together; again as the restart policy says
 *                                    ephemeral ones                    start once, whatever becomes of the others
 *                                    one fails its liveness probe      as when being deleted, then as the restart policy says
 *
 * Sidecars are told to end when no other container runs any more, the last of the spec first; they share what is left of the grace period.
 *
 * What failed or crashed waits for its back-off first. Pure: no clock, no I/O.
 */
import { containerIn, isPodFinal, isSidecar, type Pod } from '../../api/core/pod.ts';
import { isDeleting } from '../../api/meta.ts';
import { type ContainerRecord, lookAgainForMs, restartAtMs, retryAtMs } from './container-record.ts';
import type { ObservedPod } from './observed.ts';
import { isInitialized, phaseOf, restartsAfter } from './status.ts';

/** What is done to the containers. */
export type ContainersAction = { readonly because: string } & (
  | { readonly do: 'prepare' }
  | { readonly do: 'start' | 'stop' | 'kill'; readonly container: string }
  | { readonly do: 'clean up' }
);
export type ContainersDecision = { readonly actions: readonly ContainersAction[]; readonly lookAgainAfterMs?: number };
type Seen = Pick<ObservedPod, 'pod' | 'isForeign' | 'containers' | 'volumes' | 'now'>;

const nothing: ContainersDecision = { actions: [] };
/** A killed process can take a moment to go; a second signal does no harm. */
const KILL_AGAIN_MS = 1_000;
/** Of a sidecar whose Pod has used up all of its grace period, as upstream has it. */
const LEAST_GRACE_SECONDS = 2;
/** As in any Kubernetes, of a Pod that does not say. */
export const DEFAULT_GRACE_SECONDS = 30;

/** Decides the next step; the same input always gives the same answer. */
export function decideContainers(observed: Seen): ContainersDecision {
  const { pod, containers, isForeign } = observed;
  if (!pod && isForeign && containers.some((container) => container.run.is === 'running')) return nothing;
  if (!pod) return endAll(observed, 0, 'the Pod is gone') ?? cleanUp('the Pod is gone');
  if (isDeleting(pod)) return endAll(observed, graceSecondsOf(pod), 'the Pod is being deleted') ?? cleanUp('the Pod is being deleted');
  const phase = isPodFinal(pod) ? pod.status?.phase : phaseOf(pod, containers);
  if (phase === 'Succeeded' || phase === 'Failed') return endAll(observed, graceSecondsOf(pod), `the Pod has ${phase}`) ?? nothing;
  return run(pod, observed);
}

/** How long its containers have to end. */
export function graceSecondsOf({ metadata, spec }: Pod): number {
  return metadata.deletionGracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
}

/** Undefined when nothing is left to end. */
function endAll({ pod, containers, now }: Seen, graceSeconds: number, because: string): ContainersDecision | undefined {
  const running = containers.filter((container) => container.run.is === 'running');
  const others = running.filter(({ name }) => !pod || !isSidecar(pod, name));
  const last = running.at(-1);
  if (!last) return undefined;
  if (graceSeconds <= 0) return together(running.map((container) => endOne(container, 0, now, because)));
  if (others.length > 0) return together(others.map((container) => endOne(container, graceSeconds, now, because)));
  return endOne(last, pod ? graceLeft(pod, last, { graceSeconds, now }) : 0, now, because);
}

/** For a sidecar, which has waited for the others to end. */
function graceLeft({ metadata }: Pod, { run }: ContainerRecord, { graceSeconds, now }: { graceSeconds: number; now: number }): number {
  if (metadata.deletionTimestamp === undefined) return graceSeconds;
  const toldAtMs = (run.is === 'running' ? run.stopSentAtMs : undefined) ?? now;
  const leftSeconds = (Date.parse(metadata.deletionTimestamp) - toldAtMs) / 1000;
  return Math.min(graceSeconds, Math.max(LEAST_GRACE_SECONDS, leftSeconds));
}

function endOne({ name, run }: ContainerRecord, graceSeconds: number, now: number, because: string): ContainersDecision {
  if (run.is !== 'running') return nothing;
  if (graceSeconds <= 0) return { actions: [{ do: 'kill', container: name, because }], lookAgainAfterMs: KILL_AGAIN_MS };
  if (run.stopSentAtMs === undefined) return { actions: [{ do: 'stop', container: name, because }] };
  const leftMs = run.stopSentAtMs + graceSeconds * 1000 - now;
  if (leftMs > 0) return { actions: [], lookAgainAfterMs: leftMs };
  const why = `${because} and its grace period of ${graceSeconds} s is over`;
  return { actions: [{ do: 'kill', container: name, because: why }], lookAgainAfterMs: KILL_AGAIN_MS };
}

function cleanUp(because: string): ContainersDecision {
  return { actions: [{ do: 'clean up', because }] };
}

function run(pod: Pod, observed: Seen): ContainersDecision {
  const { containers, now } = observed;
  const init = containers.find((container) => container.isInit && !isInitialized(pod, container));
  const beside = containers.filter((container) => container !== init && isSidecar(pod, container.name) && hasStarted(container));
  const added = containers.filter((container) => container.isEphemeral);
  const turn = [...beside, ...(init ? [init] : containers.filter((container) => !container.isInit && !container.isEphemeral)), ...added];
  const wanted = together(turn.map((container) => (container.doomedBy ? endDoomed(pod, container, now) : startOne(pod, container, now))));
  if (wanted.actions.every((action) => action.do !== 'start')) return wanted;
  return withVolumes(observed, wanted);
}

/** Once, whatever has become of it: then it is kept running whoever's turn it is. */
function hasStarted({ run, restartCount }: ContainerRecord): boolean {
  return run.is !== 'waiting' || restartCount > 0;
}

/** The probe may have a grace period of its own. */
function endDoomed(pod: Pod, container: ContainerRecord, now: number): ContainersDecision {
  const spec = containerIn(pod, container.name);
  const graceSeconds = spec?.[`${container.doomedBy ?? 'liveness'}Probe`]?.terminationGracePeriodSeconds ?? graceSecondsOf(pod);
  return endOne(container, graceSeconds, now, `its ${container.doomedBy} probe failed`);
}

function startOne(pod: Pod, container: ContainerRecord, now: number): ContainersDecision {
  const { name, run, setback } = container;
  if (run.is === 'running' || container.isPreparing) return nothing;
  if (setback && retryAtMs(setback) > now) return { actions: [], lookAgainAfterMs: lookAgainForMs(setback, now) };
  if (run.is === 'waiting') return { actions: [{ do: 'start', container: name, because: 'it has not run yet' }] };
  if (!restartsAfter(pod, container, run.exitCode)) return nothing;
  const waitMs = restartAtMs({ ...container, run }) - now;
  if (waitMs > 0) return { actions: [], lookAgainAfterMs: waitMs };
  return { actions: [{ do: 'start', container: name, because: `it ended with exit code ${run.exitCode}` }] };
}

function withVolumes({ volumes, now }: Seen, wanted: ContainersDecision): ContainersDecision {
  if (volumes === 'ready') return wanted;
  if (volumes === 'preparing') return nothing;
  if (volumes !== 'absent' && retryAtMs(volumes) > now) return { actions: [], lookAgainAfterMs: lookAgainForMs(volumes, now) };
  return { actions: [{ do: 'prepare', because: 'a container is to start' }] };
}

function together(decisions: readonly ContainersDecision[]): ContainersDecision {
  const waits = decisions.map((decision) => decision.lookAgainAfterMs).filter((wait) => wait !== undefined);
  return { actions: decisions.flatMap((decision) => decision.actions), ...(waits.length > 0 && { lookAgainAfterMs: Math.min(...waits) }) };
}
