/** A clock that stands still until a test moves it, or sets it. */
import type { Clock } from '../base/clock.ts';

export class FakeClock implements Clock {
  #now: number;
  #steady = 0;
  #sleepers: { at: number; wake: () => void }[] = [];

  constructor(startMs = Date.parse('2026-01-01T00:00:00Z')) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  steady(): number {
    return this.#steady;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      this.#sleepers.push({ at: this.#steady + ms, wake: resolve });
      signal?.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  /** Moves time forward and wakes whoever slept until then, in order. */
  advance(ms: number): void {
    this.#now += ms;
    this.#steady += ms;
    const due = this.#sleepers.filter((sleeper) => sleeper.at <= this.#steady).sort((a, b) => a.at - b.at);
    this.#sleepers = this.#sleepers.filter((sleeper) => sleeper.at > this.#steady);
    for (const sleeper of due) sleeper.wake();
  }

  /** Sets it as an administrator or a time server does: whoever sleeps is not woken by it. */
  jump(ms: number): void {
    this.#now += ms;
  }
}
