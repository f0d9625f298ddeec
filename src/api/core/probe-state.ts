/** What the answers to a probe add up to. Pure. */
import type { Container, Probe } from './pod.ts';

export const PROBE_KINDS = ['startup', 'liveness', 'readiness'] as const;
export type ProbeKind = (typeof PROBE_KINDS)[number];

/** When a probe is asked and how many answers count, whatever it asks. */
export type ProbeRules = Pick<Probe, 'initialDelaySeconds' | 'timeoutSeconds' | 'periodSeconds' | 'successThreshold' | 'failureThreshold'>;

export type ProbeState = {
  /** Undefined until enough answers of one kind have come in a row. */
  readonly verdict?: boolean;
  readonly lastAnswer?: boolean;
  readonly inARow: number;
  readonly askedAtMs?: number;
};

export const NEVER_ASKED: ProbeState = { inARow: 0 };

const DEFAULTS = { periodSeconds: 10, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 3 } as const;

/** The probe of this kind, if it is one that we can ask: over the network, and in a container that programs can be started in. */
export function probeOf(container: Container, kind: ProbeKind, canExec: boolean): Probe | undefined {
  const probe = container[`${kind}Probe`];
  return probe?.httpGet || probe?.tcpSocket || (canExec && probe?.exec) ? probe : undefined;
}

/** How long an answer may take. */
export function timeoutMsOf({ timeoutSeconds }: ProbeRules): number {
  return (timeoutSeconds || DEFAULTS.timeoutSeconds) * 1000;
}

/** When to ask next: the first question waits for the initial delay, the others for the period. */
export function dueAtMs(probe: ProbeRules, { askedAtMs }: ProbeState, startedAtMs: number): number {
  if (askedAtMs === undefined) return startedAtMs + (probe.initialDelaySeconds ?? 0) * 1000;
  return askedAtMs + (probe.periodSeconds || DEFAULTS.periodSeconds) * 1000;
}

export function afterAnswer(probe: ProbeRules, state: ProbeState, isYes: boolean): ProbeState {
  const inARow = state.lastAnswer === isYes ? state.inARow + 1 : 1;
  const needed = isYes ? probe.successThreshold || DEFAULTS.successThreshold : probe.failureThreshold || DEFAULTS.failureThreshold;
  return { ...state, lastAnswer: isYes, inARow, ...(inARow >= needed && { verdict: isYes }) };
}
