/** The newest changes, kept for watches that resume. What falls out of it is what the log on disk may forget. */
import { ApiError } from '../../base/errors.ts';
import type { StoreEvent } from './entry.ts';

export class History {
  readonly #capacity: number;
  #events: StoreEvent[] = [];
  #start = 0;
  #forgotten: number;

  /** `forgotten` is the newest revision whose changes are no longer complete on disk. */
  constructor(capacity: number, forgotten: number) {
    this.#capacity = capacity;
    this.#forgotten = forgotten;
  }

  /** The newest revision that cannot be replayed any more. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** Adds a change and returns the one that had to make room for it. */
  add(event: StoreEvent): StoreEvent | undefined {
    this.#events.push(event);
    if (this.#events.length - this.#start <= this.#capacity) return undefined;
    const dropped = this.#events[this.#start]!; // the line above proves that there is one
    this.#start += 1;
    this.#forgotten = Math.max(this.#forgotten, dropped.revision);
    if (this.#start > this.#capacity) {
      this.#events = this.#events.slice(this.#start);
      this.#start = 0;
    }
    return dropped;
  }

  /** Every change after `revision`, oldest first; Expired when some of them are forgotten. */
  since(revision: number): StoreEvent[] {
    if (revision < this.#forgotten) throw new ApiError('Expired', `too old resource version: ${revision} (${this.#forgotten})`);
    let low = this.#start;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#events[middle]!.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return this.#events.slice(low);
  }
}
