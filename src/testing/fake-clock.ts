/** A clock that stands still until a test moves it. */
import type { Clock } from '../base/clock.ts';

export class FakeClock implements Clock {
  #now: number;
  #sleepers: { at: number; wake: () => void }[] = [];

  constructor(startMs = Date.parse('2026-01-01T00:00:00Z')) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      this.#sleepers.push({ at: this.#now + ms, wake: resolve });
      signal?.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  /** Moves time forward and wakes whoever slept until then, in order. */
  advance(ms: number): void {
    this.#now += ms;
    const due = this.#sleepers.filter((sleeper) => sleeper.at <= this.#now).sort((a, b) => a.at - b.at);
    this.#sleepers = this.#sleepers.filter((sleeper) => sleeper.at > this.#now);
    for (const sleeper of due) sleeper.wake();
  }
}
