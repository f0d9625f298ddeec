/**
 * The durable store: one append-only log with one global revision on disk, the current state in memory.
 *
 * - All writes of one turn of the event loop, or that came while the disk took the ones before, share a transaction (group commit). A
 *   write resolves when its COMMIT is on disk, and only then can readers and watchers see it, so nothing is ever shown that a crash could
 *   take back. One commit at a time is on its way to the disk, and the event loop does not wait for it.
 * - The expected revision of a write is compared inside that transaction, so a loser that reads again sees the winner.
 * - The newest `historySize` changes can be replayed, after a restart too, unless what they replaced is more than `historyBytes`;
 *   older rows are forgotten a few per commit.
 */
import { closeSync, openSync } from 'node:fs';
import { ApiError, INSUFFICIENT_STORAGE, messageOf } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import { readWatermark, writeWatermark, writeWatermarkSync } from '../../base/node/store-watermark.ts';
import type { Entry, StoreEvent, WriteOperation } from './entry.ts';
import { History } from './history.ts';
import { LogTable } from './log-table.ts';
import { LruCache } from './lru-cache.ts';
import { damaged, openDatabase, SQLITE_FULL, sqliteCode } from './open-database.ts';
import { State } from './state.ts';

export type StoreOptions = {
  /** The database file; its folder is created. */
  readonly path: string;
  /** How many changes a watch can resume from. */
  readonly historySize?: number;
  /** How much of replaced and deleted values is kept for them: large objects that change often have a shorter history. */
  readonly historyBytes?: number;
  /** A limit for the file, to keep a runaway client from filling the disk. */
  readonly maxBytes?: number;
  /** Told once when the disk failed under a commit: nothing can be written any more and the process should end. */
  readonly onFatal?: (error: unknown) => void;
};

type Pending = {
  readonly operation: WriteOperation;
  /** Made when the write was asked for, so that what is committed is what the caller handed in. */
  readonly text: string | undefined;
  readonly resolve: (event: StoreEvent) => void;
  readonly reject: (error: unknown) => void;
};
/** What became of each write of a commit. */
type Outcomes = ReadonlyMap<Pending, StoreEvent | ApiError>;
type Subscriber = { readonly prefix: string; readonly fromRevision: number; readonly listener: (event: StoreEvent) => void };

const DEFAULT_HISTORY = { changes: 10_000, bytes: 32 * 1024 * 1024 };
/** How much text is also kept parsed, twice: what is read all the time is not parsed each time. */
const PARSED_BYTES = 8 * 1024 * 1024;
const FORGET_PER_COMMIT = 200;
const PAGE_BYTES = 4096;

/** Opens (or creates) the store; throws UserError STORE_LOCKED, STORE_DAMAGED or STORE_TOO_NEW. */
export function openStore(options: StoreOptions): Store {
  const database = openDatabase(options.path);
  if (options.maxBytes !== undefined) database.exec(`PRAGMA max_page_count = ${Math.ceil(options.maxBytes / PAGE_BYTES)}`);
  try {
    const store = new Store(new LogTable(database, options.path), options);
    requireNotBehind(store, options.path);
    return store;
  } catch (error) {
    database.close();
    throw sqliteCode(error) === undefined ? error : damaged(options.path, messageOf(error), error); // its tables are not those that we made
  }
}

/** However whole the file is: what was acknowledged must be in it. Another id is another history, which has its own beginning. */
function requireNotBehind({ clusterId, revision }: Store, path: string): void {
  const watermark = readWatermark(path);
  if (watermark?.clusterId !== clusterId || revision >= watermark.revision) return;
  throw damaged(path, `it ends at revision ${revision}, and had come to ${watermark.revision}; all is well up to revision ${revision}`);
}

export class Store {
  readonly #path: string;
  /** Which history this is; a guest that was started under another one is not this store's to end. */
  readonly clusterId: string;
  readonly #log: LogTable;
  readonly #history: History;
  readonly #state = new State();
  readonly #parsed: Parsed = new LruCache(PARSED_BYTES);
  readonly #subscribers = new Set<Subscriber>();
  readonly #onFatal: (error: unknown) => void;
  #revision = 0;
  #pending: Pending[] = [];
  /** The commit that is on its way to the disk. */
  #syncing: Outcomes | undefined;
  /** Rows that nothing needs any more, each with the change that made it so. */
  #garbage: { row: number; upTo: number }[] = [];
  #failure: unknown;
  #isClosed = false;
  /** Nothing yet: a new store has to say which history it begins, before its first write. */
  #marked = -1;

  constructor(log: LogTable, options: StoreOptions) {
    this.#log = log;
    this.#path = options.path;
    this.clusterId = log.clusterId();
    this.#onFatal = options.onFatal ?? (() => {});
    const { historySize: changes = DEFAULT_HISTORY.changes, historyBytes: bytes = DEFAULT_HISTORY.bytes } = options;
    this.#history = new History({ changes, bytes }, log.forgotten());
    for (const { revision, key, text } of log.rows()) {
      this.#take({ revision, key, entry: this.#entry(key, revision, text), previous: this.#state.get(key) });
    }
    this.#revision = Math.max(this.#revision, this.#history.forgotten);
  }

  /** The revision of the newest committed write. */
  get revision(): number {
    return this.#revision;
  }

  /** Undefined when it can be written. */
  get whyNotWritable(): string | undefined {
    if (this.#isClosed) return 'it is closed';
    return this.#failure === undefined ? undefined : messageOf(this.#failure);
  }

  get(key: string): Entry | undefined {
    return this.#state.get(key);
  }

  /** Entries under `prefix` (`group/plural/` or `group/plural/namespace/`, '' for all), in key order. */
  list(prefix: string): Entry[] {
    return this.#state.list(prefix);
  }

  /** The same list as it was at an earlier revision; Expired when that is forgotten. */
  listAt(prefix: string, revision: number): Entry[] {
    const events = this.#history.since(revision).filter((event) => event.key.startsWith(prefix));
    if (events.length === 0) return this.list(prefix);
    const entries = new Map(this.list(prefix).map((entry) => [entry.key, entry]));
    for (const { key, previous } of events.reverse()) {
      if (previous) entries.set(key, previous);
      else entries.delete(key);
    }
    return [...entries.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** Resolves with what was committed; rejects with Conflict when the key is not at `expectedRevision`. */
  write(operation: WriteOperation): Promise<StoreEvent> {
    if (this.#isClosed || this.#failure !== undefined) return Promise.reject(this.#unwritable());
    return new Promise((resolve, reject) => {
      const text = operation.value && JSON.stringify(operation.value);
      this.#pending.push({ operation, text, resolve, reject });
      if (this.#pending.length === 1 && !this.#syncing) this.#flushSoon();
    });
  }

  /** Calls `listener` for every change after `fromRevision`: known ones now, later ones right after their commit. Returns how to stop. */
  watch(prefix: string, fromRevision: number, listener: (event: StoreEvent) => void): () => void {
    for (const event of this.#history.since(fromRevision)) if (event.key.startsWith(prefix)) listener(event);
    const subscriber: Subscriber = { prefix, fromRevision, listener };
    this.#subscribers.add(subscriber);
    return () => void this.#subscribers.delete(subscriber);
  }

  /** Copies the committed state into a new file at `path`, which nobody but its owner may read; writes go on meanwhile. */
  async snapshot(path: string): Promise<void> {
    closeSync(openSync(path, 'wx', 0o600)); // SQLite would create it readable for others
    await this.#log.copyTo(path);
  }

  /** Writes down beside the store how far it has come, if it has come further. */
  async mark(): Promise<void> {
    const { clusterId, revision } = this;
    if (revision === this.#marked || this.#isClosed) return;
    await writeWatermark(this.#path, { clusterId, revision });
    this.#marked = revision;
  }

  /** Puts everything committed into the one file, so that a lost log beside it loses little. */
  checkpoint(): void {
    if (!this.#isClosed && this.#failure === undefined) this.#log.checkpoint();
  }

  /** Commits what is waiting and gives the file free. */
  close(): void {
    if (this.#isClosed) return;
    this.#syncNow();
    this.#commit();
    this.#syncNow();
    this.#isClosed = true;
    this.#subscribers.clear();
    this.#log.close();
    if (this.#failure === undefined) this.#markAtTheEnd();
  }

  /** Gives the file free as if it had never been opened: nothing is written beside it. */
  abandon(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#log.close();
  }

  #markAtTheEnd(): void {
    try {
      writeWatermarkSync(this.#path, { clusterId: this.clusterId, revision: this.#revision });
    } catch {
      // the disk is full, or the folder has gone: an older mark is a true one, too
    }
  }

  #flushSoon(): void {
    setImmediate(() => {
      if (!this.#syncing && !this.#isClosed) this.#flush();
    });
  }

  #flush(): void {
    this.#commit();
    const outcomes = this.#syncing;
    if (!outcomes) return;
    this.#log.sync((error) => {
      if (this.#syncing !== outcomes) return; // the store was closed, which did not wait
      this.#settle(outcomes, error);
      if (this.#pending.length > 0 && this.#failure === undefined) this.#flushSoon();
    });
  }

  #syncNow(): void {
    const outcomes = this.#syncing;
    if (!outcomes) return;
    try {
      this.#log.syncNow();
      this.#settle(outcomes, undefined);
    } catch (error) {
      this.#settle(outcomes, error);
    }
  }

  /** Commits what is waiting; from then on it is on its way to the disk. */
  #commit(): void {
    const batch = this.#pending;
    if (batch.length === 0) return;
    this.#pending = [];
    const outcomes = new Map<Pending, StoreEvent | ApiError>();
    const garbage = this.#garbage.slice(0, FORGET_PER_COMMIT);
    try {
      this.#log.transaction(() => {
        this.#append(batch, outcomes);
        const last = garbage.at(-1);
        if (last)
          this.#log.forget(
            garbage.map(({ row }) => row),
            last.upTo,
          );
      });
    } catch (error) {
      this.#fail(batch, error);
      return;
    }
    this.#garbage = this.#garbage.slice(garbage.length);
    this.#syncing = outcomes;
  }

  /** The commit is on disk, or nobody knows. */
  #settle(outcomes: Outcomes, error: unknown): void {
    this.#syncing = undefined;
    if (error !== undefined) {
      this.#fail([...outcomes.keys(), ...this.#pending.splice(0)], error);
      return;
    }
    for (const outcome of outcomes.values()) if (!(outcome instanceof ApiError)) this.#publish(outcome);
    for (const [{ resolve, reject }, outcome] of outcomes) outcome instanceof ApiError ? reject(outcome) : resolve(outcome);
  }

  /** Writes the batch into the open transaction; later writes of the batch see earlier ones. */
  #append(batch: readonly Pending[], outcomes: Map<Pending, StoreEvent | ApiError>): void {
    const newest = new Map<string, StoreEvent>();
    let revision = this.#revision;
    for (const pending of batch) {
      const { key, expectedRevision } = pending.operation;
      const known = newest.get(key);
      const previous = known ? known.entry : this.#state.get(key);
      if (expectedRevision !== undefined && expectedRevision !== (previous?.revision ?? 0)) {
        outcomes.set(pending, new ApiError('Conflict', `${key} is at revision ${previous?.revision ?? 0}, not ${expectedRevision}`));
        continue;
      }
      revision += 1;
      this.#log.append(revision, key, pending.text);
      const event: StoreEvent = { revision, key, entry: this.#entry(key, revision, pending.text), previous };
      newest.set(key, event);
      outcomes.set(pending, event);
    }
  }

  #entry(key: string, revision: number, text: string | undefined): Entry | undefined {
    return text === undefined ? undefined : new TextEntry(key, revision, text, this.#parsed);
  }

  #publish(event: StoreEvent): void {
    this.#take(event);
    // A copy: whoever subscribes while being told has already got this change from the history.
    for (const subscriber of [...this.#subscribers]) {
      const { prefix, fromRevision, listener } = subscriber;
      if (event.revision > fromRevision && event.key.startsWith(prefix) && this.#subscribers.has(subscriber)) listener(event);
    }
  }

  #take(event: StoreEvent): void {
    this.#revision = event.revision;
    this.#state.apply(event);
    for (const { revision, entry, previous } of this.#history.add(event)) {
      // The value before a forgotten change, and a forgotten deletion itself, can never be asked for again.
      if (previous) this.#garbage.push({ row: previous.revision, upTo: revision });
      if (!entry) this.#garbage.push({ row: revision, upTo: revision });
    }
  }

  #fail(batch: readonly Pending[], error: unknown): void {
    if (sqliteCode(error) === SQLITE_FULL) {
      const full = new ApiError('InternalError', 'the store has no space left: nothing was written; free disk space and try again', {
        code: INSUFFICIENT_STORAGE,
        cause: error,
      });
      for (const { reject } of batch) reject(full);
      return;
    }
    // After a failed fsync nobody knows what is on disk: never acknowledge anything again.
    this.#failure = error;
    for (const { reject } of batch) reject(this.#unwritable());
    this.#onFatal(error);
  }

  #unwritable(): ApiError {
    return new ApiError('ServiceUnavailable', `the store cannot be written: ${this.whyNotWritable}`, { cause: this.#failure });
  }
}

type Parsed = LruCache<Entry, JsonObject>;

class TextEntry implements Entry {
  readonly key: string;
  readonly revision: number;
  readonly text: string;
  readonly #parsed: Parsed;

  constructor(key: string, revision: number, text: string, parsed: Parsed) {
    this.key = key;
    this.revision = revision;
    this.text = text;
    this.#parsed = parsed;
  }

  get value(): JsonObject {
    return this.#parsed.get(this, this.text.length, () => JSON.parse(this.text) as JsonObject); // whatever is in the log was made from one
  }
}
