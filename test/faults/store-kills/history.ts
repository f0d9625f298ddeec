/**
 * What clients asked of a store and what they were told, in the order in which they saw it: `start` and `end` are places in one sequence
 * of all that happened to all clients.
 */

/** A write as one client sees it. Every write names the version it expects (0: that there is nothing). */
export type Write = {
  readonly verb: 'create' | 'update' | 'delete';
  readonly key: string;
  readonly expected: number;
  /** What the object is to hold; no two writes want the same. Nothing for a deletion. */
  readonly content?: string;
  readonly start: number;
  end: number;
  /** `unknown`: the connection broke before an answer came. */
  outcome: 'acknowledged' | 'refused' | 'unknown';
  /** That the answer named; the answer to a deletion names none. */
  revision?: number;
};

/** A list of everything, as of one revision. */
export type List = { readonly start: number; readonly end: number; readonly revision: number; readonly items: readonly Item[] };
export type Item = { readonly key: string; readonly revision: number; readonly content: string };

/** One client that watches everything from a revision on, over any number of connections. */
export type Watcher = { readonly from: number; readonly events: WatchEvent[]; expired: number };
export type WatchEvent = { readonly type: string; readonly key: string; readonly revision: number; readonly content: string };

export type History = { readonly writes: readonly Write[]; readonly lists: readonly List[]; readonly watchers: readonly Watcher[] };
