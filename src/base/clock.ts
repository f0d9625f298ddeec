/** Time as a dependency, so that tests decide what time it is. */
export type Clock = {
  /** Milliseconds since the epoch: for dates. Somebody may set it, by hours and back. */
  now(): number;
  /** Milliseconds since some moment, that nobody can set: for how long something took or may take. */
  steady(): number;
  /** Resolves after `ms`, or at once (without throwing) when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
};

/** A timer of a JavaScript engine ends at 24.8 days, and fires at once beyond. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  steady: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      let leftMs = ms;
      let timer = setTimeout(next, take());
      function next() {
        if (leftMs > 0) timer = setTimeout(next, take());
        else done();
      }
      /** What of the time one timer can do. */
      function take(): number {
        const piece = Math.min(leftMs, LONGEST_TIMER_MS);
        leftMs -= piece;
        return piece;
      }
      function done() {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      }
      signal?.addEventListener('abort', done, { once: true });
    }),
};
