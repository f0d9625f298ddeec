/** The probes of one Pod: asked in time, never two at once of the same kind, and what they have added up to. */
import { type Container, isSidecar, type Pod, type Probe } from '../../api/core/pod.ts';
import {
  afterAnswer,
  dueAtMs,
  NEVER_ASKED,
  PROBE_KINDS,
  type ProbeKind,
  type ProbeState,
  probeOf,
  timeoutMsOf,
} from '../../api/core/probe-state.ts';
import type { Clock } from '../../base/clock.ts';
import { timeoutSignal } from '../../base/timeout-signal.ts';
import type { ContainerRecord } from './container-record.ts';
import { runProbe } from './run-probe.ts';

export type ProbesOptions = {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** True for a container that programs can be started in. */
  readonly canExec: (container: Container) => boolean;
  /** False for one whose first process is still on its way: nothing can be started in it yet, which is no answer. */
  readonly runs: (name: string) => boolean;
  /** Starts a program there: undefined for a yes, the reason for a no. */
  readonly exec: (container: Container, command: readonly string[], signal: AbortSignal) => Promise<string | undefined>;
  /** A verdict has changed. */
  readonly onVerdict: () => void;
  /** A probe fails, having succeeded or never been asked before. */
  readonly onFailure: (pod: Pod, kind: ProbeKind, why: string) => void;
};
type Round = { readonly pod: Pod; readonly container: Container; readonly state: ContainerRecord; readonly podIP: string };

export class Probes {
  readonly #options: ProbesOptions;
  /** By container, run and kind: a new run is asked anew. */
  readonly #states = new Map<string, ProbeState>();
  readonly #asking = new Set<string>();

  constructor(options: ProbesOptions) {
    this.#options = options;
  }

  /** Asks what is due; answers come later. */
  lookAround(pod: Pod, containers: Iterable<ContainerRecord>, podIP: string): void {
    for (const state of containers) {
      const container = probedIn(pod, state.name);
      if (container && state.run.is === 'running') for (const kind of PROBE_KINDS) this.#askIfDue(kind, { pod, container, state, podIP });
    }
  }

  /** What the probes say of a container; without a probe there is nothing to say. */
  of(pod: Pod | undefined, state: ContainerRecord): Pick<ContainerRecord, 'isReady' | 'isStarted' | 'doomedBy'> {
    const container = pod && probedIn(pod, state.name);
    if (!pod || !container || state.run.is !== 'running') return {};
    const verdict = (kind: ProbeKind) => (this.#probeOf(container, kind) ? this.#stateOf(kind, { pod, container, state }).verdict : 'none');
    const isStarted = verdict('startup') === 'none' || verdict('startup') === true;
    const doomedBy = (['startup', 'liveness'] as const).find((kind) => verdict(kind) === false);
    const isReady = isStarted && (verdict('readiness') === 'none' || verdict('readiness') === true);
    return { isReady, isStarted, ...(doomedBy && { doomedBy }) };
  }

  #askIfDue(kind: ProbeKind, round: Round): void {
    const { pod, container, state, podIP } = round;
    const probe = this.#probeOf(container, kind);
    const key = keyOf(kind, state);
    if (!probe || state.run.is !== 'running' || this.#asking.has(key)) return;
    // Until it has started nothing else is asked of it, and afterwards not whether it has.
    if ((kind === 'startup') === (this.of(pod, state).isStarted === true)) return;
    const { clock, signal, runs } = this.#options;
    if (!probe.httpGet && !probe.tcpSocket && !runs(state.name)) return;
    const before = this.#stateOf(kind, round);
    if (clock.now() < dueAtMs(probe, before, state.run.startedAtMs)) return;
    this.#states.set(key, { ...before, askedAtMs: clock.now() });
    this.#asking.add(key);
    const inTime = AbortSignal.any([signal, timeoutSignal(timeoutMsOf(probe))]);
    void runProbe({ probe, container, podIP, signal: inTime, exec: this.#options.exec }).then((why) => {
      this.#asking.delete(key);
      if (signal.aborted) return;
      const known = this.#stateOf(kind, round);
      const next = afterAnswer(probe, known, why === undefined);
      this.#states.set(key, next);
      if (why !== undefined && known.lastAnswer !== false) this.#options.onFailure(pod, kind, why);
      if (next.verdict !== known.verdict) this.#options.onVerdict();
    });
  }

  #probeOf(container: Container, kind: ProbeKind): Probe | undefined {
    return probeOf(container, kind, this.#options.canExec(container));
  }

  /** A kubelet that comes back believes what the one before it wrote, so that nobody leaves a Service because of it. */
  #stateOf(kind: ProbeKind, { pod, state }: Pick<Round, 'pod' | 'container' | 'state'>): ProbeState {
    const key = keyOf(kind, state);
    const known = this.#states.get(key);
    if (known) return known;
    const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
    const told = [...containerStatuses, ...initContainerStatuses].find(
      ({ name, restartCount }) => name === state.name && restartCount === state.restartCount,
    );
    const isTold = kind === 'readiness' ? told?.ready && told.state?.running : kind === 'startup' && told?.started;
    const first = isTold ? { ...NEVER_ASKED, verdict: true } : NEVER_ASKED;
    this.#states.set(key, first);
    return first;
  }
}

/** Sidecars have probes, other init containers do not. */
function probedIn(pod: Pod, wanted: string): Container | undefined {
  const sidecars = (pod.spec.initContainers ?? []).filter(({ name }) => isSidecar(pod, name));
  return [...pod.spec.containers, ...sidecars].find(({ name }) => name === wanted);
}

function keyOf(kind: ProbeKind, { name, restartCount }: ContainerRecord): string {
  return `${name} ${restartCount} ${kind}`;
}
