/** Looks at the guests of this node again and again, to know at which of their ports each takes connections. */
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { PodCard } from '../../qemu/convert/network.ts';
import type { PortsAnswer } from './port-frames.ts';
import { afterLook, afterReset, isToBeOpen, type Look, lookAfterMs, noVerdicts, type PortVerdicts } from './port-verdicts.ts';

export type Wire = {
  ask(card: PodCard, ports: readonly number[], signal: AbortSignal): Promise<PortsAnswer>;
  close(): void;
};
/** What is to be looked at; undefined while it stands still or cannot be asked. */
export type LookSubject = { readonly card: PodCard; readonly ports: readonly number[] } | undefined;
export type PortLooksOptions = {
  readonly subjectOf: (key: string) => LookSubject;
  readonly wireOf: (key: string) => Wire;
  readonly clock: Clock;
  readonly log: Logger;
  /** Ports of this guest are to be opened or closed. */
  readonly onChange: (key: string) => void;
};
type Watch = {
  readonly podUid: string | undefined;
  readonly ended: AbortController;
  verdicts: PortVerdicts;
  /** Aborted to look at once. */
  bell: AbortController;
};

/** A guest that does not answer is waited for; the others shall not have to. */
const MOST_AT_ONCE = 32;
/** Ports in one question, so that all answers have room. */
const MOST_IN_ONE = 256;
const IDLE_MS = 1_000;
/** After so many failures in a row the ports are taken for filtered: what a guest serves must not depend on this. */
const HOPELESS = 3;
const UNKNOWN: PortsAnswer = { isThere: true, takes: new Set(), refuses: new Set() };

export class PortLooks {
  readonly #options: PortLooksOptions;
  readonly #watches = new Map<string, Watch>();
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(options: PortLooksOptions) {
    this.#options = options;
  }

  /** Looks at this guest from now on, until it is forgotten or in another Pod; at once when there are ports that were never looked at. */
  watch(key: string, podUid: string | undefined): void {
    const known = this.#watches.get(key);
    if (known && known.podUid === podUid) {
      if (this.#options.subjectOf(key)?.ports.some((port) => !known.verdicts.ports.has(port))) known.bell.abort();
      return;
    }
    this.forget(key);
    const verdicts = noVerdicts(this.#options.clock.steady());
    const watch: Watch = { podUid, ended: new AbortController(), verdicts, bell: new AbortController() };
    this.#watches.set(key, watch);
    void this.#keep(key, watch);
  }

  /** The machine has begun anew: nobody in it listens. */
  hasReset(key: string): void {
    const watch = this.#watches.get(key);
    if (!watch) return;
    watch.verdicts = afterReset(watch.verdicts, this.#options.clock.steady());
    this.#options.onChange(key);
    watch.bell.abort();
  }

  forget(key: string): void {
    this.#watches.get(key)?.ended.abort();
    this.#watches.delete(key);
  }

  close(): void {
    for (const key of [...this.#watches.keys()]) this.forget(key);
  }

  /** What is known of the guest in this Pod. */
  verdictsOf(key: string, podUid: string | undefined): PortVerdicts | undefined {
    const watch = this.#watches.get(key);
    return watch?.podUid === podUid ? watch?.verdicts : undefined;
  }

  async #keep(key: string, watch: Watch): Promise<void> {
    const { clock, log, wireOf } = this.#options;
    const { signal } = watch.ended;
    let wire: Wire | undefined;
    let failures = 0;
    while (!signal.aborted) {
      try {
        watch.bell = new AbortController(); // before the look, so that a ring during it is not missed
        const subject = this.#options.subjectOf(key);
        if (subject && subject.ports.length > 0) {
          wire ??= wireOf(key);
          await this.#look(key, watch, { ...subject, wire });
        }
        failures = 0;
        const waitMs = subject ? lookAfterMs(watch.verdicts, { nowMs: clock.steady(), guests: this.#watches.size }) : IDLE_MS;
        await clock.sleep(waitMs, AbortSignal.any([signal, watch.bell.signal]));
      } catch (error) {
        wire?.close();
        wire = undefined;
        failures += 1;
        log[failures === HOPELESS ? 'warn' : 'debug']('cannot look at the ports of a guest', { object: key, error: messageOf(error) });
        if (failures >= HOPELESS) this.#show(key, watch, { ports: this.#options.subjectOf(key)?.ports ?? [], answer: UNKNOWN });
        await clock.sleep(IDLE_MS * Math.min(failures, 30), signal);
      }
    }
    wire?.close();
  }

  async #look(key: string, watch: Watch, { card, ports, wire }: NonNullable<LookSubject> & { readonly wire: Wire }): Promise<void> {
    const { signal } = watch.ended;
    const before = watch.verdicts;
    const answer = await this.#inTurn(() => askAll(wire, card, ports, signal));
    // One that was stopped meanwhile could not answer, and of one that was reset it means nothing.
    if (!signal.aborted && watch.verdicts === before && this.#options.subjectOf(key)) this.#show(key, watch, { ports, answer });
  }

  #show(key: string, watch: Watch, look: Omit<Look, 'nowMs'>): void {
    const { clock, onChange } = this.#options;
    const before = watch.verdicts;
    watch.verdicts = afterLook(before, { ...look, nowMs: clock.steady() });
    if (look.ports.some((port) => isToBeOpen(watch.verdicts, port) !== isToBeOpen(before, port))) onChange(key);
  }

  async #inTurn<T>(act: () => Promise<T>): Promise<T> {
    if (this.#running >= MOST_AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      return await act();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}

async function askAll(wire: Wire, card: PodCard, ports: readonly number[], signal: AbortSignal): Promise<PortsAnswer> {
  const answers: PortsAnswer[] = [];
  for (let at = 0; at < ports.length; at += MOST_IN_ONE) answers.push(await wire.ask(card, ports.slice(at, at + MOST_IN_ONE), signal));
  return {
    isThere: answers.some(({ isThere }) => isThere),
    takes: new Set(answers.flatMap(({ takes }) => [...takes])),
    refuses: new Set(answers.flatMap(({ refuses }) => [...refuses])),
  };
}
