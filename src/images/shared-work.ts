/** One piece of work for all who ask for it at the same time. It ends when nobody waits for it any more. */

type Running<T> = { readonly promise: Promise<T>; readonly stop: AbortController; askers: number };

export class SharedWork<T> {
  readonly #running = new Map<string, Running<T>>();

  /** Begins it, or joins the one that is under way. Somebody else's failure is not ours: then we try ourselves. */
  async run(key: string, work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const joined = this.#running.get(key);
    if (joined) {
      try {
        return await this.#wait(joined, signal);
      } catch {
        signal?.throwIfAborted();
      }
    }
    return this.#wait(this.#running.get(key) ?? this.#begin(key, work), signal);
  }

  #begin(key: string, work: (signal: AbortSignal) => Promise<T>): Running<T> {
    const stop = new AbortController();
    const promise = work(stop.signal).finally(() => this.#running.delete(key));
    promise.catch(() => {}); // whoever waits is told
    const running: Running<T> = { promise, stop, askers: 0 };
    this.#running.set(key, running);
    return running;
  }

  async #wait(running: Running<T>, signal: AbortSignal | undefined): Promise<T> {
    running.askers++;
    let leave = () => {};
    try {
      return await new Promise<T>((resolve, reject) => {
        leave = () => reject(signal?.reason);
        if (signal?.aborted) leave();
        signal?.addEventListener('abort', leave, { once: true });
        running.promise.then(resolve, reject);
      });
    } finally {
      signal?.removeEventListener('abort', leave);
      if (--running.askers === 0) running.stop.abort(new Error('nobody waits for it any more'));
    }
  }
}
