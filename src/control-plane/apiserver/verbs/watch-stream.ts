/**
 * One watch on its way to one client. Changes wait here as what is stored, and become events when the client reads:
 * a slow client costs little, and one that is hopelessly behind is cut off (it lists again) instead of filling the memory.
 */
import { apiVersionOf } from '../../../api/resource.ts';
import { ApiError } from '../../../base/errors.ts';
import type { JsonObject } from '../../../base/json.ts';
import type { Entry, StoreEvent } from '../../store/entry.ts';
import type { Representation } from '../request/negotiate.ts';
import type { Selection } from '../request/selection.ts';
import { isPlain, statusOf, tableOf, viewOf } from '../response/respond.ts';
import type { Call } from '../server-parts.ts';
import type { AnyObject } from '../types/resource-type.ts';

type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';
type Waiting =
  | { readonly type: EventType; readonly entry: Entry; readonly revision: number; readonly isInitial: boolean }
  | { readonly type: 'BOOKMARK'; readonly revision: number; readonly isEndOfInitial: boolean }
  | { readonly type: 'ERROR'; readonly error: ApiError };

/** Changes that wait for one client; what it asked for at the start does not count. More than any history holds of ordinary objects. */
const MAX_WAITING = { changes: 20_000, bytes: 64 * 1024 * 1024 };
const CHUNK_CHARACTERS = 64 * 1024;
/** Of one large line: what many clients have not read yet is in memory once, and only so much of it is on its way to each. */
const PIECE_BYTES = 64 * 1024;
/** So many waiting changes are put to a conversion webhook before the first is told of. */
const CONVERTED_AT_ONCE = 100;

export class WatchStream {
  readonly readable: ReadableStream<Uint8Array>;
  readonly #call: Call;
  readonly #representation: Representation;
  readonly #selection: Selection;
  readonly #encoder = new TextEncoder();
  readonly #ended = new AbortController();
  #waiting: Waiting[] = [];
  /** Of a large line that is being sent. */
  #rest: Uint8Array | undefined;
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
    for (const entry of entries) {
      if (this.#selects(entry)) this.#waiting.push({ type: 'ADDED', entry, revision: entry.revision, isInitial: true });
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

  /** Ends at once; what waits is for nobody any more. */
  cut(): void {
    this.#waiting = [];
    this.#rest = undefined;
    this.#next = 0;
    this.end();
  }

  /** An object that enters the selection is new to the client, one that leaves it is gone. */
  #addChange({ revision, entry, previous }: StoreEvent): void {
    const isIn = this.#selects(entry);
    const wasIn = this.#selects(previous);
    if (!isIn && !wasIn) return;
    const shown = entry ?? previous!; // one of them was selected
    this.#add({ type: isIn ? (wasIn ? 'MODIFIED' : 'ADDED') : 'DELETED', entry: shown, revision, isInitial: false });
  }

  #selects(entry: Entry | undefined): boolean {
    if (!entry || this.#selection.isEverything) return entry !== undefined;
    return this.#selection.matches(this.#call.parts.renderer.selectable(this.#call.type, entry));
  }

  #add(waiting: Waiting): void {
    if (this.#isEnding) return;
    this.#waiting.push(waiting);
    this.#count(waiting, 1);
    this.#wake();
    if (this.#changes > MAX_WAITING.changes || this.#bytes > MAX_WAITING.bytes) this.end();
  }

  #count(waiting: Waiting, sign: 1 | -1): void {
    if (!('entry' in waiting) || waiting.isInitial) return;
    this.#changes += sign;
    this.#bytes += sign * waiting.entry.text.length;
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    while (!this.#rest && this.#next === this.#waiting.length && !this.#isEnding) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#isCancelled) return;
    if (this.#rest) return this.#sendPiece(controller, this.#rest);
    if (!(await this.#isConverted())) return;
    let text = '';
    while (this.#next < this.#waiting.length && text.length < CHUNK_CHARACTERS) {
      const waiting = this.#waiting[this.#next]!; // the line above proves that there is one
      if ('entry' in waiting && this.#call.parts.conversions.isMissing(this.#call.type, waiting.entry)) break; // came meanwhile
      const isLarge = this.#isLarge(waiting);
      if (isLarge && text !== '') break;
      if (isLarge) this.#rest = this.#sharedLineOf(waiting);
      else text += this.#lineOf(waiting);
      this.#count(waiting, -1);
      this.#next += 1;
      if (isLarge) break;
    }
    // What was sent is let go of, even if the client never quite catches up.
    this.#waiting = this.#waiting.slice(this.#next);
    this.#next = 0;
    if (this.#rest) return this.#sendPiece(controller, this.#rest);
    if (text !== '') controller.enqueue(this.#encoder.encode(text));
    this.#closeAtTheEnd(controller);
  }

  #sendPiece(controller: ReadableStreamDefaultController<Uint8Array>, line: Uint8Array): void {
    this.#rest = line.length > PIECE_BYTES ? line.subarray(PIECE_BYTES) : undefined;
    controller.enqueue(line.subarray(0, PIECE_BYTES));
    this.#closeAtTheEnd(controller);
  }

  #closeAtTheEnd(controller: ReadableStreamDefaultController<Uint8Array>): void {
    if (this.#isEnding && this.#waiting.length === 0 && !this.#rest) controller.close();
  }

  /** What is rendered for one client is its own. */
  #isLarge(waiting: Waiting): waiting is Waiting & { type: EventType } {
    return 'entry' in waiting && isPlain(this.#representation) && waiting.entry.text.length > PIECE_BYTES;
  }

  #sharedLineOf(waiting: Waiting & { type: EventType }): Uint8Array {
    const { parts, type } = this.#call;
    const { type: event, entry, revision } = waiting;
    return parts.renderer.lines.bytesOf({ entry, type, event, revision }, () => this.#lineOf(waiting));
  }

  /** What waits, in the version that was asked for; false when somebody cancelled meanwhile. One ERROR event when it cannot be had. */
  async #isConverted(): Promise<boolean> {
    const { parts, type } = this.#call;
    if (!type.converter) return true;
    try {
      const entries = this.#waiting
        .slice(this.#next, this.#next + CONVERTED_AT_ONCE)
        .flatMap((each) => ('entry' in each ? [each.entry] : []));
      await parts.conversions.prepare(type, entries, parts.closed);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.cut();
      this.#waiting = [{ type: 'ERROR', error }];
    }
    return !this.#isCancelled;
  }

  #lineOf(waiting: Waiting): string {
    if (!('entry' in waiting) || !isPlain(this.#representation)) return `${JSON.stringify(this.#eventOf(waiting))}\n`;
    const { type, entry, revision } = waiting;
    return `{"type":"${type}","object":${this.#call.parts.renderer.renderText(this.#call.type, entry, revision)}}\n`;
  }

  #eventOf(waiting: Waiting): JsonObject {
    switch (waiting.type) {
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED':
        return { type: waiting.type, object: this.#withColumnsOnce(viewOf(this.#call, this.#objectOf(waiting), this.#representation)) };
      case 'BOOKMARK':
        return { type: 'BOOKMARK', object: this.#withColumnsOnce(this.#bookmark(waiting)) };
      case 'ERROR':
        return { type: 'ERROR', object: statusOf(waiting.error) };
    }
  }

  #objectOf({ entry, revision }: Waiting & { type: EventType }): AnyObject {
    const { parts, type } = this.#call;
    return revision === entry.revision ? parts.renderer.render(type, entry) : parts.renderer.renderAt(type, entry, revision);
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
