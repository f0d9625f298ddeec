/**
 * The keys a controller still has to look at. A key is in it once however often it is added, and in the hands of one
 * worker at a time: added while it is worked on, it comes again afterwards.
 */
import { type Backoff, backoffMs } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';

export type QueueOptions = {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly backoff?: Backoff;
  /** Keys of a higher rank are taken first, and of one rank in the order in which they came. */
  readonly rankOf?: (key: string) => number;
  /** Told of each key that comes in, and of each that is tried again. */
  readonly onEvent?: (event: 'add' | 'retry') => void;
};

const DEFAULT_BACKOFF: Backoff = { firstMs: 5, capMs: 60_000 };
/** Timers of a JavaScript engine end at 24.8 days, and fire at once beyond; looking early costs nothing. */
const LONGEST_DELAY_MS = 24 * 3_600_000;

export class KeyedQueue {
  readonly #ready: RankedKeys;
  readonly #running = new Set<string>();
  readonly #addedWhileRunning = new Set<string>();
  readonly #delayed = new Map<string, { readonly at: number; readonly cancel: () => void }>();
  readonly #failures = new Map<string, number>();
  readonly #takers: ((key: string | undefined) => void)[] = [];
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #backoff: Backoff;
  readonly #tell: (event: 'add' | 'retry') => void;

  constructor({ clock, signal, backoff = DEFAULT_BACKOFF, rankOf = () => 0, onEvent = () => {} }: QueueOptions) {
    this.#tell = onEvent;
    this.#ready = new RankedKeys(rankOf);
    this.#clock = clock;
    this.#signal = signal;
    this.#backoff = backoff;
    signal.addEventListener('abort', () => this.#close(), { once: true });
  }

  add(key: string): void {
    const waiting = this.#running.has(key) ? this.#addedWhileRunning : this.#ready;
    if (!waiting.has(key)) this.#tell('add');
    waiting.add(key);
    if (waiting === this.#ready) this.#serve();
  }

  /** How many keys wait for a worker. */
  get depth(): number {
    return this.#ready.size;
  }

  /** One timer per key: the earliest that is asked for counts, and taking the key cancels it. */
  addAfter(key: string, delayMs: number): void {
    if (this.#signal.aborted) return;
    const delay = Math.min(Math.max(0, delayMs), LONGEST_DELAY_MS);
    const at = this.#clock.steady() + delay;
    const pending = this.#delayed.get(key);
    if (pending && pending.at <= at) return;
    pending?.cancel();
    const timer = new AbortController();
    const entry = { at, cancel: () => timer.abort('taken') }; // a reason that the engine would have to make comes with a stack trace
    this.#delayed.set(key, entry);
    void this.#clock.sleep(delay, timer.signal).then(() => {
      if (timer.signal.aborted) return;
      this.#delayed.delete(key);
      this.add(key);
    });
  }

  /** Adds the key again after a delay that doubles with every failure. Returns how many there were in a row. */
  retry(key: string): number {
    this.#tell('retry');
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    this.addAfter(key, backoffMs(this.#backoff, failures));
    return failures;
  }

  /** The key was dealt with: its next failure is its first. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** The next key, now in the caller's hands until `done`; undefined when the signal has aborted. */
  take(): Promise<string | undefined> {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.#takers.push(resolve);
    if (this.#signal.aborted) this.#close();
    else this.#serve();
    return promise;
  }

  done(key: string): void {
    this.#running.delete(key);
    if (this.#addedWhileRunning.delete(key)) this.add(key);
  }

  #serve(): void {
    for (let taker = this.#takers[0]; taker; taker = this.#takers[0]) {
      const key = this.#ready.takeFirst();
      if (key === undefined) return;
      this.#takers.shift();
      this.#running.add(key);
      this.#delayed.get(key)?.cancel();
      this.#delayed.delete(key);
      taker(key);
    }
  }

  #close(): void {
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    for (const taker of this.#takers.splice(0)) taker(undefined);
  }
}

/** Each key once. Ranks are few, so the highest is found by looking at all of them. */
class RankedKeys {
  readonly #byRank = new Map<number, Set<string>>();
  readonly #ranks = new Map<string, number>();
  readonly #rankOf: (key: string) => number;

  constructor(rankOf: (key: string) => number) {
    this.#rankOf = rankOf;
  }

  add(key: string): void {
    if (this.#ranks.has(key)) return;
    const rank = this.#rankOf(key);
    const keys = this.#byRank.get(rank) ?? new Set();
    this.#byRank.set(rank, keys.add(key));
    this.#ranks.set(key, rank);
  }

  has(key: string): boolean {
    return this.#ranks.has(key);
  }

  get size(): number {
    return this.#ranks.size;
  }

  takeFirst(): string | undefined {
    if (this.#ranks.size === 0) return undefined;
    const rank = Math.max(...this.#byRank.keys());
    const keys = this.#byRank.get(rank) ?? new Set();
    const [key] = keys;
    if (key === undefined) return undefined;
    keys.delete(key);
    if (keys.size === 0) this.#byRank.delete(rank);
    this.#ranks.delete(key);
    return key;
  }
}
