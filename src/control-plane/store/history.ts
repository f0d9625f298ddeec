/**
 * The newest changes, kept for watches that resume. What falls out of it is what the log on disk may forget.
 * It is bounded by number and by what it alone keeps alive: the values that were replaced or deleted (the newest ones are the state's).
 */
import { ApiError } from '../../base/errors.ts';
import type { StoreEvent } from './entry.ts';

export type HistoryLimits = { readonly changes: number; readonly bytes: number };

export class History {
  readonly #limits: HistoryLimits;
  #events: StoreEvent[] = [];
  #start = 0;
  #bytes = 0;
  #forgotten: number;

  /** `forgotten` is the newest revision whose changes are no longer complete on disk. */
  constructor(limits: HistoryLimits, forgotten: number) {
    this.#limits = limits;
    this.#forgotten = forgotten;
  }

  /** The newest revision that cannot be replayed any more. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** Adds a change and returns those that had to make room for it, oldest first; it may be among them itself. */
  add(event: StoreEvent): StoreEvent[] {
    this.#events.push(event);
    this.#bytes += replacedBytes(event);
    const dropped: StoreEvent[] = [];
    while (this.#events.length - this.#start > this.#limits.changes || this.#bytes > this.#limits.bytes) {
      dropped.push(this.#dropOldest());
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
  #dropOldest(): StoreEvent {
    const oldest = this.#events[this.#start]!; // over a limit means that there is one
    this.#start += 1;
    this.#bytes -= replacedBytes(oldest);
    this.#forgotten = Math.max(this.#forgotten, oldest.revision);
    // Cut off now and then, not each time: that would copy the whole history for every write. What is kept meanwhile is let go of at once.
    this.#events[this.#start - 1] = FORGOTTEN;
    if (this.#start * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#start);
      this.#start = 0;
    }
    return oldest;
  }
}

const FORGOTTEN: StoreEvent = { revision: 0, key: '', entry: undefined, previous: undefined };

function replacedBytes({ previous }: StoreEvent): number {
  return previous?.text.length ?? 0;
}
