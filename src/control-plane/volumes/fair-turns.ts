/** Work that waits for its turn: so much at once and no more; of those who wait, each owner in turn, and of one owner in the order in which it came. */

export class FairTurns {
  readonly #atOnce: number;
  readonly #waiting = new Map<string, Set<() => void>>();
  #taken = 0;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** Runs the work when its turn has come; rejects with the reason of the signal when that comes first. */
  async run<Result>(owner: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    signal.throwIfAborted();
    if (this.#taken < this.#atOnce) this.#taken += 1;
    else await this.#turnOf(owner, signal);
    try {
      return await work();
    } finally {
      this.#passOn();
    }
  }

  #turnOf(owner: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const mine = this.#waiting.get(owner) ?? new Set();
    const leave = () => {
      mine.delete(come);
      if (mine.size === 0 && this.#waiting.get(owner) === mine) this.#waiting.delete(owner);
      reject(signal.reason);
    };
    const come = () => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    mine.add(come);
    this.#waiting.set(owner, mine);
    signal.addEventListener('abort', leave, { once: true });
    return promise;
  }

  /** To the first of the owner who has waited longest; who has more goes behind all others. */
  #passOn(): void {
    const [owner, mine] = this.#waiting.entries().next().value ?? [];
    const [come] = mine ?? [];
    if (owner === undefined || !mine || !come) {
      this.#taken -= 1;
      return;
    }
    mine.delete(come);
    this.#waiting.delete(owner);
    if (mine.size > 0) this.#waiting.set(owner, mine);
    come();
  }
}
