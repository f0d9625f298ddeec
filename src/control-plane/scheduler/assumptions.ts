/** Places given away that the cache does not show yet: without them the next Pod would be given the same room. */
import type { Pod } from '../../api/core/pod.ts';
import type { Clock } from '../../base/clock.ts';

type Assumption = { readonly pod: Pod; readonly until: number };

/** A binding that has not shown up by then has failed. */
const LIFE_MS = 30_000;

export class Assumptions {
  /** Oldest first, for all live equally long. */
  readonly #byUid = new Map<string, Assumption>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(pod: Pod): boolean {
    return this.#byUid.has(pod.metadata.uid ?? '');
  }

  assume(pod: Pod): void {
    this.forget(pod);
    this.#byUid.set(pod.metadata.uid ?? '', { pod, until: this.#clock.steady() + LIFE_MS });
  }

  forget(pod: Pod): boolean {
    return this.#byUid.delete(pod.metadata.uid ?? '');
  }

  /** The Pods whose binding has not shown up in time; they are forgotten. */
  takeExpired(): Pod[] {
    const expired: Pod[] = [];
    for (const { pod, until } of this.#byUid.values()) {
      if (until > this.#clock.steady()) break;
      expired.push(pod);
    }
    for (const pod of expired) this.forget(pod);
    return expired;
  }
}
