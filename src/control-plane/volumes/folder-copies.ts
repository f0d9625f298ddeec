/**
 * Copies of folders that are under way, and those that are whole: a copy is made under another name and gets its own when all of it is on the
 * disk, so one that is there is whole, whenever we are killed. They are begun and looked at; nobody waits for them. Whoever may make objects may
 * ask for thousands: a few are under way at once, which are also those whose data goes to the disk beside the store, the others wait.
 */
import { existsSync } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { copyFolder, syncToDisk } from './copy-folder.ts';
import { FairTurns } from './fair-turns.ts';

export type CopyState =
  | { readonly is: 'none' | 'going' }
  /** `isWaiting`: for its turn. */
  | { readonly is: 'copying'; readonly isWaiting: boolean }
  | { readonly is: 'whole'; readonly sinceMs: number }
  | { readonly is: 'failed'; readonly message: string; readonly atMs: number };

export type CopyToBegin = {
  readonly from: string;
  readonly path: string;
  /** Whose it is: owners take turns. */
  readonly owner: string;
};

const COPIES_AT_ONCE = 2;
const REMOVALS_AT_ONCE = 2;

export class FolderCopies {
  readonly #clock: Clock;
  readonly #stopped = new AbortController();
  readonly #copies = new FairTurns(COPIES_AT_ONCE);
  readonly #removals = new FairTurns(REMOVALS_AT_ONCE);
  readonly #running = new Map<string, { readonly unwanted: AbortController; readonly ended: Promise<void>; isWaiting: boolean }>();
  readonly #going = new Map<string, Promise<void>>();
  readonly #failed = new Map<string, { readonly message: string; readonly atMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What there is of the copy with this path. */
  async stateOf(path: string): Promise<CopyState> {
    if (this.#going.has(path)) return { is: 'going' };
    const running = this.#running.get(path);
    if (running) return { is: 'copying', isWaiting: running.isWaiting };
    if (existsSync(path)) return { is: 'whole', sinceMs: (await stat(path)).mtimeMs };
    const failed = this.#failed.get(path);
    if (failed) return { is: 'failed', ...failed };
    return existsSync(unfinished(path)) ? { is: 'failed', message: 'it was interrupted', atMs: 0 } : { is: 'none' };
  }

  /** Begins a copy, when it is its turn; nothing when it is there, or under way. */
  begin({ from, path, owner }: CopyToBegin): void {
    if (this.#stopped.signal.aborted || this.#running.has(path) || this.#going.has(path) || existsSync(path)) return;
    const unwanted = new AbortController();
    const signal = AbortSignal.any([this.#stopped.signal, unwanted.signal]);
    const copying = async () => {
      this.#failed.delete(path);
      try {
        await this.#copies.run(owner, signal, () => {
          running.isWaiting = false;
          return copyUnder(path, { from, signal });
        });
      } catch (error) {
        if (!signal.aborted) this.#failed.set(path, { message: messageOf(error), atMs: this.#clock.now() });
        if (!running.isWaiting) await rm(unfinished(path), { recursive: true, force: true }).catch(() => {}); // the next try removes it first
      } finally {
        this.#running.delete(path);
      }
    };
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const running = { unwanted, ended, isWaiting: true };
    this.#running.set(path, running);
    void copying().finally(resolve);
  }

  /** Begins to remove a copy, whole or not; one that is being made, or waits to be, is given up. */
  remove(path: string): void {
    if (this.#stopped.signal.aborted || this.#going.has(path)) return;
    const running = this.#running.get(path);
    const removing = async () => {
      try {
        running?.unwanted.abort(new Error('it is no longer wanted'));
        await running?.ended;
        await this.#removals.run(path, this.#stopped.signal, () => removeUnder(path));
        this.#failed.delete(path);
      } catch (error) {
        this.#failed.set(path, { message: messageOf(error), atMs: this.#clock.now() });
      } finally {
        this.#going.delete(path);
      }
    };
    this.#going.set(path, removing());
  }

  /** Ends what is under way, without a trace. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all([...this.#running.values().map(({ ended }) => ended), ...this.#going.values()]);
  }
}

async function copyUnder(path: string, { from, signal }: { readonly from: string; readonly signal: AbortSignal }): Promise<void> {
  const into = unfinished(path);
  await rm(into, { recursive: true, force: true }); // of a try that was killed
  await copyFolder({ from, into, signal });
  await rename(into, path);
  await syncToDisk(dirname(path));
}

async function removeUnder(path: string): Promise<void> {
  await rm(unfinished(path), { recursive: true, force: true });
  if (existsSync(path)) await rename(path, unfinished(path)); // half of it must not be taken for a copy
  await rm(unfinished(path), { recursive: true, force: true });
}

function unfinished(path: string): string {
  return `${path}.unfinished`;
}
