/**
 * One watch on its way to one client. Changes wait here as references, and become text when the client reads:
 * a slow client costs little, and one that is hopelessly behind is cut off (it lists again) instead of filling the memory.
 */
import { apiVersionOf } from '../../api/resource.ts';
import { ApiError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Entry, StoreEvent } from '../store/entry.ts';
import type { Representation } from './negotiate.ts';
import { renderAt } from './render.ts';
import type { AnyObject } from './resource-type.ts';
import { statusOf, tableOf, viewOf } from './respond.ts';
import type { Selection } from './selection.ts';
import type { Call } from './server-parts.ts';

type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';
type Waiting =
  | { readonly type: EventType; readonly object: AnyObject; readonly bytes: number }
  | { readonly type: 'BOOKMARK'; readonly revision: number; readonly isEndOfInitial: boolean }
  | { readonly type: 'ERROR'; readonly error: ApiError };

/** Changes that wait for one client; what it asked for at the start does not count. More than any history holds of ordinary objects. */
const MAX_WAITING = { changes: 20_000, bytes: 64 * 1024 * 1024 };
const CHUNK_CHARACTERS = 64 * 1024;

export class WatchStream {
  readonly readable: ReadableStream<Uint8Array>;
  readonly #call: Call;
  readonly #representation: Representation;
  readonly #selection: Selection;
  readonly #encoder = new TextEncoder();
  readonly #ended = new AbortController();
  #waiting: Waiting[] = [];
  #next = 0;
  #changes = 0;
  #bytes = 0;
  #hasColumns = false;
  #isEnding = false;
  #isCancelled = false;
  #stopFollowing: () => void = () => {};
  #wake: () => void = () => {};

  constructor(options: { call: Call; representation: Representation; selection: Selection }) {
    this.#call = options.call;
    this.#representation = options.representation;
    this.#selection = options.selection;
    this.readable = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => this.#pull(controller),
        cancel: () => {
          this.#isCancelled = true;
          this.end();
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** Aborted when nothing more will be added. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** The objects that exist when the watch starts. */
  addAll(entries: readonly Entry[]): void {
    const { parts, type } = this.#call;
    for (const entry of entries) {
      const object = parts.renderer.render(type, entry);
      if (this.#selection.matches(object)) this.#waiting.push({ type: 'ADDED', object, bytes: 0 });
    }
  }

  /** Tells the client that it has seen everything up to a revision. */
  addBookmark(revision: number, { isEndOfInitial = false } = {}): void {
    this.#add({ type: 'BOOKMARK', revision, isEndOfInitial });
  }

  /** Adds every change under `prefix` after `revision`; one ERROR event when they are no longer known. */
  follow(prefix: string, revision: number): void {
    try {
      this.#stopFollowing = this.#call.parts.store.watch(prefix, revision, (event) => this.#addChange(event));
      if (this.#isEnding) this.#stopFollowing(); // cut off by what was replayed, before there was a way to stop
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#add({ type: 'ERROR', error });
      this.end();
    }
  }

  /** What waits is still delivered, then the response ends. */
  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#stopFollowing();
    this.#ended.abort();
    this.#wake();
  }

  /** An object that enters the selection is new to the client, one that leaves it is gone. */
  #addChange({ revision, entry, previous }: StoreEvent): void {
    const { parts, type } = this.#call;
    const now = entry && parts.renderer.render(type, entry);
    const before = previous && parts.renderer.render(type, previous);
    const isIn = now !== undefined && this.#selection.matches(now);
    const wasIn = before !== undefined && this.#selection.matches(before);
    const bytes = (entry ?? previous)?.bytes ?? 0;
    if (isIn) this.#add({ type: wasIn ? 'MODIFIED' : 'ADDED', object: now, bytes });
    else if (wasIn) this.#add({ type: 'DELETED', object: now ?? renderAt(type, previous!.value, revision), bytes }); // wasIn proves that there was one
  }

  #add(waiting: Waiting): void {
    if (this.#isEnding) return;
    this.#waiting.push(waiting);
    this.#count(waiting, 1);
    this.#wake();
    if (this.#changes > MAX_WAITING.changes || this.#bytes > MAX_WAITING.bytes) this.end();
  }

  #count(waiting: Waiting, sign: 1 | -1): void {
    if (!('bytes' in waiting) || waiting.bytes === 0) return;
    this.#changes += sign;
    this.#bytes += sign * waiting.bytes;
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    while (this.#next === this.#waiting.length && !this.#isEnding) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#isCancelled) return;
    let text = '';
    while (this.#next < this.#waiting.length && text.length < CHUNK_CHARACTERS) {
      const waiting = this.#waiting[this.#next]!; // the line above proves that there is one
      text += `${JSON.stringify(this.#eventOf(waiting))}\n`;
      this.#count(waiting, -1);
      this.#next += 1;
    }
    // What was sent is let go of, even if the client never quite catches up.
    this.#waiting = this.#waiting.slice(this.#next);
    this.#next = 0;
    if (text !== '') controller.enqueue(this.#encoder.encode(text));
    if (this.#isEnding && this.#waiting.length === 0) controller.close();
  }

  #eventOf(waiting: Waiting): JsonObject {
    switch (waiting.type) {
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED':
        return { type: waiting.type, object: this.#withColumnsOnce(viewOf(this.#call, waiting.object, this.#representation)) };
      case 'BOOKMARK':
        return { type: 'BOOKMARK', object: this.#withColumnsOnce(this.#bookmark(waiting)) };
      case 'ERROR':
        return { type: 'ERROR', object: statusOf(waiting.error) };
    }
  }

  #bookmark({ revision, isEndOfInitial }: Waiting & { type: 'BOOKMARK' }): JsonObject {
    const { type } = this.#call;
    const annotations = isEndOfInitial ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
    const metadata = { resourceVersion: String(revision), ...annotations };
    if (this.#representation.as === 'table') {
      const table = tableOf(this.#call, [], { resourceVersion: String(revision) }, this.#representation);
      // The mark has to be on an object: a table has no annotations of its own.
      const object = { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${this.#representation.version}`, metadata };
      return isEndOfInitial ? { ...table, rows: [{ cells: [], object }] } : table;
    }
    if (this.#representation.as === 'partial') {
      return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${this.#representation.version}`, metadata };
    }
    return { kind: type.kind, apiVersion: apiVersionOf(type), metadata };
  }

  /** kubectl prints the header of a table whenever it gets columns, so only the first event has them. */
  #withColumnsOnce(view: JsonObject): JsonObject {
    if (this.#representation.as !== 'table') return view;
    if (this.#hasColumns) return { ...view, columnDefinitions: [] };
    this.#hasColumns = true;
    return view;
  }
}
