/**
 * Copies of folders that are under way, and those that are whole: a copy is made under another name and gets its own when all of it is on the
 * disk, so one that is there is whole, whenever we are killed. They are begun and looked at; nobody waits for them.
 */
import { existsSync } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { copyFolder, syncToDisk } from './copy-folder.ts';

export type CopyState =
  | { readonly is: 'none' | 'copying' | 'going' }
  | { readonly is: 'whole'; readonly sinceMs: number }
  | { readonly is: 'failed'; readonly message: string; readonly atMs: number };

export class FolderCopies {
  readonly #clock: Clock;
  readonly #stopped = new AbortController();
  readonly #running = new Map<string, Promise<void>>();
  readonly #going = new Set<string>();
  readonly #failed = new Map<string, { readonly message: string; readonly atMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What there is of the copy with this path. */
  async stateOf(path: string): Promise<CopyState> {
    if (this.#going.has(path)) return { is: 'going' };
    if (this.#running.has(path)) return { is: 'copying' };
    if (existsSync(path)) return { is: 'whole', sinceMs: (await stat(path)).mtimeMs };
    const failed = this.#failed.get(path);
    if (failed) return { is: 'failed', ...failed };
    return existsSync(unfinished(path)) ? { is: 'failed', message: 'it was interrupted', atMs: 0 } : { is: 'none' };
  }

  /** Begins a copy; nothing when it is there, or under way. */
  begin(from: string, path: string): void {
    if (this.#stopped.signal.aborted || this.#running.has(path) || this.#going.has(path) || existsSync(path)) return;
    this.#start(path, async () => {
      try {
        await this.#copy(from, path);
        this.#failed.delete(path);
      } catch (error) {
        this.#failed.set(path, { message: messageOf(error), atMs: this.#clock.now() });
        await rm(unfinished(path), { recursive: true, force: true });
      }
    });
  }

  /** Begins to remove a copy, whole or not. */
  remove(path: string): void {
    if (this.#stopped.signal.aborted || this.#going.has(path) || this.#running.has(path)) return;
    this.#going.add(path);
    this.#start(path, async () => {
      try {
        await rm(unfinished(path), { recursive: true, force: true });
        if (existsSync(path)) await rename(path, unfinished(path)); // half of it must not be taken for a copy
        await rm(unfinished(path), { recursive: true, force: true });
        this.#failed.delete(path);
      } catch (error) {
        this.#failed.set(path, { message: messageOf(error), atMs: this.#clock.now() });
      } finally {
        this.#going.delete(path);
      }
    });
  }

  /** Ends what is under way, without a trace. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#running.values());
  }

  #start(path: string, work: () => Promise<void>): void {
    this.#running.set(
      path,
      work().finally(() => this.#running.delete(path)),
    );
  }

  async #copy(from: string, path: string): Promise<void> {
    const into = unfinished(path);
    await rm(into, { recursive: true, force: true }); // of a try that was killed
    await copyFolder({ from, into, signal: this.#stopped.signal });
    await rename(into, path);
    await syncToDisk(dirname(path));
  }
}

function unfinished(path: string): string {
  return `${path}.unfinished`;
}
