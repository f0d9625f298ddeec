/**
 * What looks at a guest add up to: whether each of its ports is to be open at the address of the Pod. Rules, first match wins:
 *
 *   what the guest did at the port                 means       the port is
 *   it took the connection (SYN+ACK)               yes         open at once
 *   it refused it (RST)                            no          closed when two looks in a row say so
 *   nothing, and it said nothing at all            silent      closed when five in a row say so: it boots, hangs, or has no network; one
 *                                                              that waits for a busy processor is back before that
 *   nothing, though it is there                    unsure      open when three in a row say so: a firewall that drops what comes from the
 *                                                              gateway may let others in
 *   it was reset                                   no          closed at once: whoever listened is gone
 *
 * Until enough looks say the same, a port is as it was; one that was never open is closed.
 *
 * Looks are a second apart at first, and where the last one contradicts the verdict; else a twentieth of the time for which nothing has changed,
 * at most five seconds. Many guests of a node are looked at less often, so that all of them together cost no more than 50 looks in a second,
 * 10 when nothing has changed for a minute. Pure.
 */
import type { PortsAnswer } from './port-frames.ts';

type Sign = 'yes' | 'no' | 'silent' | 'unsure';
type Port = { readonly sign: Sign; readonly times: number; readonly isOpen?: boolean };
export type PortVerdicts = {
  readonly ports: ReadonlyMap<number, Port>;
  /** When a verdict last changed, by the steady clock. */
  readonly changedAtMs: number;
};

const ENOUGH: Readonly<Record<Sign, number>> = { yes: 1, no: 2, silent: 5, unsure: 3 };
const PAUSE = { leastMs: 1_000, mostMs: 5_000, ofCalm: 1 / 20 } as const;
const MS_FOR_EACH_GUEST = { unsettled: 20, settled: 100 } as const;
const SETTLED_AFTER_MS = 60_000;

/** Before the first look. */
export function noVerdicts(nowMs: number): PortVerdicts {
  return { ports: new Map(), changedAtMs: nowMs };
}

/** After one more look at these ports; others are forgotten. */
export function afterLook(before: PortVerdicts, { ports, answer, nowMs }: Look): PortVerdicts {
  const after = new Map(ports.map((port) => [port, next(before.ports.get(port), signOf(port, answer))]));
  const hasChanged = ports.some((port) => after.get(port)?.isOpen !== before.ports.get(port)?.isOpen);
  return { ports: after, changedAtMs: hasChanged ? nowMs : before.changedAtMs };
}
export type Look = { readonly ports: readonly number[]; readonly answer: PortsAnswer; readonly nowMs: number };

/** After the machine has begun anew. */
export function afterReset({ ports }: PortVerdicts, nowMs: number): PortVerdicts {
  return { ports: new Map([...ports.keys()].map((port) => [port, { sign: 'no', times: ENOUGH.no, isOpen: false }])), changedAtMs: nowMs };
}

/** Whether the port is to be open; undefined when nobody knows yet, and what is there stays. */
export function isToBeOpen({ ports }: PortVerdicts, port: number): boolean | undefined {
  return ports.get(port)?.isOpen;
}

/** How long to wait before the next look, where so many guests are looked at. */
export function lookAfterMs({ ports, changedAtMs }: PortVerdicts, { nowMs, guests }: { nowMs: number; guests: number }): number {
  const isInDoubt = [...ports.values()].some(({ sign, isOpen }) => isOpen !== isYes(sign));
  const calmMs = isInDoubt ? 0 : nowMs - changedAtMs;
  const pauseMs = Math.min(Math.max(PAUSE.leastMs, calmMs * PAUSE.ofCalm), PAUSE.mostMs);
  return Math.max(pauseMs, guests * MS_FOR_EACH_GUEST[calmMs < SETTLED_AFTER_MS ? 'unsettled' : 'settled']);
}

function signOf(port: number, { isThere, takes, refuses }: PortsAnswer): Sign {
  if (takes.has(port)) return 'yes';
  if (refuses.has(port)) return 'no';
  return isThere ? 'unsure' : 'silent';
}

function isYes(sign: Sign): boolean {
  return sign === 'yes' || sign === 'unsure';
}

function next(before: Port | undefined, sign: Sign): Port {
  const times = before?.sign === sign ? Math.min(before.times + 1, ENOUGH.silent) : 1;
  const isOpen = times >= ENOUGH[sign] ? isYes(sign) : before?.isOpen;
  return { sign, times, ...(isOpen !== undefined && { isOpen }) };
}
