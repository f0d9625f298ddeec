/** Time as a dependency, so that tests decide what time it is. */
export type Clock = {
  /** Milliseconds since the epoch: for dates. Somebody may set it, by hours and back. */
  now(): number;
  /** Milliseconds since some moment, that nobody can set: for how long something took or may take. */
  steady(): number;
  /** Resolves after `ms`, or at once (without throwing) when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
};

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  steady: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const timer = setTimeout(done, ms);
      function done() {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      }
      signal?.addEventListener('abort', done, { once: true });
    }),
};
