/**
 * The probes that are asked inside one guest: by its agent, or at a port of which only QEMU knows whether the guest itself answers there.
 * One question of a kind at a time; the thresholds are those of any Pod. A guest that stands still is not asked: its silence says nothing.
 */
import { afterAnswer, dueAtMs, NEVER_ASKED, type ProbeState, timeoutMsOf } from '../../api/core/probe-state.ts';
import { vmiCondition } from '../../api/kubevirt/condition-reasons.ts';
import { guestProbe, VMI_PROBE_KINDS, type VmiProbe, type VmiProbeKind } from '../../api/kubevirt/guest-probe.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { AgentSession } from '../agent/agent-session.ts';
import type { DomainState } from '../vmi/domain.ts';
import { type AskGuest, type GuestWays, questionOf } from './ask-guest.ts';

/** What the answers of one kind have added up to. */
export type ProbeVerdict = { readonly isYes: boolean; readonly why?: string };
export type ProbeFacts = { readonly [Kind in VmiProbeKind]?: ProbeVerdict };
export type GuestProbesOptions = {
  readonly vmi: VirtualMachineInstance;
  readonly agent: AgentSession;
  readonly stateOf: () => DomainState;
  readonly takesConnection: GuestWays['takesConnection'];
  readonly clock: Clock;
  /** A verdict has changed. */
  readonly onChange: () => void;
};

const LOOK_MS = 1_000;
const NO_ANSWER = 'no answer in time';

export class GuestProbes {
  readonly #options: GuestProbesOptions;
  #facts: ProbeFacts = {};

  /** Asks until the signal aborts. */
  constructor(options: GuestProbesOptions, signal: AbortSignal) {
    this.#options = options;
    for (const kind of VMI_PROBE_KINDS) {
      const probe = guestProbe(options.vmi.spec, kind);
      if (probe) void this.#keep(kind, probe, signal);
    }
  }

  /** Nothing of a kind until enough answers have come. */
  get facts(): ProbeFacts {
    return this.#facts;
  }

  async #keep(kind: VmiProbeKind, probe: VmiProbe, signal: AbortSignal): Promise<void> {
    const { vmi, clock } = this.#options;
    const ask = answerInTime(questionOf(probe, this.#options), { timeoutMs: timeoutMsOf(probe), clock });
    let state = firstState(kind, vmi);
    let startedAtMs = runningSinceMs(vmi);
    while (!signal.aborted) {
      const now = clock.now();
      startedAtMs ??= this.#canAnswer(probe) ? now : undefined;
      const waitMs = startedAtMs !== undefined && this.#canAnswer(probe) ? dueAtMs(probe, state, startedAtMs) - now : LOOK_MS;
      if (waitMs > 0) {
        await clock.sleep(waitMs, signal);
        continue;
      }
      state = { ...state, askedAtMs: now };
      const why = await ask();
      // A guest that was stopped or frozen during the question could not answer it.
      if (why !== undefined && !this.#canAnswer(probe)) continue;
      state = afterAnswer(probe, state, why === undefined);
      if (!signal.aborted) this.#show(kind, state, why);
    }
  }

  /** A guest that is paused, or whose agent has not been found yet; and a frozen one, whose agent runs no programs. */
  #canAnswer({ exec, tcpSocket }: VmiProbe): boolean {
    const { stateOf, agent } = this.#options;
    if (stateOf() !== 'running' && stateOf() !== 'unresponsive') return false;
    if (tcpSocket) return true;
    return agent.facts.state !== 'unknown' && !(exec && agent.facts.isFrozen);
  }

  #show(kind: VmiProbeKind, { verdict }: ProbeState, why: string | undefined): void {
    if (verdict === undefined || this.#facts[kind]?.isYes === verdict) return;
    this.#facts = { ...this.#facts, [kind]: { isYes: verdict, ...(!verdict && { why: why ?? NO_ANSWER }) } };
    this.#options.onChange();
  }
}

/** Never throws, and never asks while an older question waits: a guest that hangs is not buried in questions. */
function answerInTime(ask: AskGuest, { timeoutMs, clock }: { timeoutMs: number; clock: Clock }): () => Promise<string | undefined> {
  let isWaiting = false;
  return () => {
    if (isWaiting) return Promise.resolve(NO_ANSWER);
    isWaiting = true;
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const late = new AbortController();
    const answered = new AbortController();
    const hear = (why: string | undefined) => {
      resolve(why);
      isWaiting = false;
      answered.abort();
    };
    ask({ timeoutMs, signal: late.signal }).then(hear, (error: unknown) => hear(messageOf(error)));
    void clock.sleep(timeoutMs, answered.signal).then(() => {
      resolve(NO_ANSWER);
      late.abort();
    });
    return promise;
  };
}

/** A handler that comes back believes what the one before it wrote, so that nobody leaves a Service because of it. */
function firstState(kind: VmiProbeKind, vmi: VirtualMachineInstance): ProbeState {
  const told = kind === 'readiness' ? vmiCondition(vmi, 'GuestReady')?.status : undefined;
  return told === undefined ? NEVER_ASKED : { ...NEVER_ASKED, verdict: told === 'True' };
}

function runningSinceMs({ status }: VirtualMachineInstance): number | undefined {
  const since = status?.phaseTransitionTimestamps?.find(({ phase }) => phase === 'Running')?.phaseTransitionTimestamp;
  return since === undefined ? undefined : Date.parse(since);
}
