/**
 * Notices that this process itself was away: stopped, starved, or asleep with its machine. Whoever counts how long something else is silent
 * must not count that time: nobody could be heard.
 */
import type { Clock } from './clock.ts';

const BEAT_MS = 1_000;
/** A beat this late is not a busy moment any more. */
const LATE_MS = 5_000;

export class Pulse {
  readonly #clock: Clock;
  #beatAt: number;
  #awakeSince: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#beatAt = clock.steady();
    this.#awakeSince = this.#beatAt;
  }

  /** By the steady clock: since when nothing has held us up. Asking is a beat, too, so that nobody who asks first is told what was true before. */
  awakeSince(): number {
    const now = this.#clock.steady();
    if (now - this.#beatAt > LATE_MS) this.#awakeSince = now;
    this.#beatAt = now;
    return this.#awakeSince;
  }

  /** Beats until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.awakeSince();
      await this.#clock.sleep(BEAT_MS, signal);
    }
  }
}
