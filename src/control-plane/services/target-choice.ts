/** Which target a client of a Service is given: each in turn, or the one that it had before. */
import type { Clock } from '../../base/clock.ts';
import type { Target } from './decide-listeners.ts';

type Choice = { readonly target: Target; readonly until: number };

/** Remembered at most; whoever comes back after so many others is a new client. */
const MAX_CLIENTS = 10_000;

export class TargetChoice {
  readonly #clock: Clock;
  /** Longest unused first. */
  readonly #choices = new Map<string, Choice>();
  #targets: readonly Target[] = [];
  #affinityMs = 0;
  #next = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  set({ targets, affinityMs = 0 }: { readonly targets: readonly Target[]; readonly affinityMs?: number }): void {
    this.#targets = targets;
    this.#affinityMs = affinityMs;
    if (affinityMs === 0) this.#choices.clear();
  }

  /** All targets, beginning with the one whose turn it is for this client. */
  inTurn(client: string): Target[] {
    const targets = this.#targets;
    const kept = this.#keptFor(client);
    const first = kept === -1 ? this.#next++ % (targets.length || 1) : kept;
    return [...targets.slice(first), ...targets.slice(0, first)];
  }

  /** The client is served by this target, and will be again. */
  chose(client: string, target: Target): void {
    if (this.#affinityMs === 0) return;
    this.#choices.delete(client);
    this.#choices.set(client, { target, until: this.#clock.steady() + this.#affinityMs });
    const [oldest] = this.#choices.keys();
    if (this.#choices.size > MAX_CLIENTS && oldest !== undefined) this.#choices.delete(oldest);
  }

  #keptFor(client: string): number {
    const choice = this.#choices.get(client);
    if (!choice || choice.until <= this.#clock.steady()) return -1;
    return this.#targets.findIndex(({ host, port }) => host === choice.target.host && port === choice.target.port);
  }
}
