/**
 * The file that an upload is written to, piece by piece. Its size is part of its name, so that whoever comes after a kill knows what it is a
 * part of. One request writes at a time: the next one ends that before it, whose client is gone. A file that is whole belongs to whoever makes a
 * disk of it, until they give it back.
 *
 *   a piece that                      is
 *   begins where the file ends        appended
 *   begins at 0                       the beginning of another file: the one before is removed
 *   begins elsewhere                  Conflict, with where the next one has to begin
 *   is of a file that is too large    RequestEntityTooLarge, before anything of it is read
 *   comes when the file is whole      Conflict
 */
import { closeSync, constants, lstatSync, openSync, readdirSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError, INSUFFICIENT_STORAGE, messageOf } from '../../base/errors.ts';
import { formatBytes } from '../../base/quantity.ts';
import { type Piece, pieceOf } from './parse-content-range.ts';

/** Others may mount the PVC: a link in the place of the file is not followed. */
const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
const NAME = /^upload-(\d{1,15}|unknown)$/;

export class UploadFile {
  readonly #folder: string;
  readonly #maxBytes: number;
  #isWhole = false;
  #writing: { readonly stop: AbortController; readonly ended: Promise<unknown> } | undefined;

  constructor(options: { readonly folder: string; readonly maxBytes: number }) {
    this.#folder = options.folder;
    this.#maxBytes = options.maxBytes;
  }

  /** How much of it is here. */
  state(): { readonly receivedBytes: number; readonly totalBytes?: number } {
    const name = this.#name();
    if (name === undefined) return { receivedBytes: 0 };
    const total = NAME.exec(name)?.[1];
    const receivedBytes = lstatSync(join(this.#folder, name)).size;
    return { receivedBytes, ...(total !== undefined && total !== 'unknown' && { totalBytes: Number(total) }) };
  }

  /** Resolves with the path when the file is whole, with undefined when more is to come. */
  async take({ headers, body, signal }: Pick<Request, 'headers' | 'body' | 'signal'>): Promise<string | undefined> {
    const piece = pieceOf(headers);
    if ((piece.totalBytes ?? 0) > this.#maxBytes) throw tooLarge(this.#maxBytes);
    for (let other = this.#writing; other; other = this.#writing) {
      other.stop.abort(new Error('another request continues with it'));
      await other.ended; // whoever else waited may write by now
    }
    if (this.#isWhole) throw new ApiError('Conflict', 'a disk is being made of what was sent before');
    const stop = new AbortController();
    const work = this.#write(piece, { body, signal: AbortSignal.any([signal, stop.signal]) });
    const over = () => {
      this.#writing = undefined; // before anybody who waits looks
    };
    this.#writing = { stop, ended: work.then(over, over) };
    try {
      return await work;
    } catch (error) {
      if (!signal.aborted || isOutOfRoom(error)) throw error;
      // The connection is gone, or we are about to end: whoever still hears it tries again.
      throw new ApiError('ServiceUnavailable', 'the file was not received: its transfer was interrupted', { cause: error });
    }
  }

  /** Nobody makes a disk of it any more: another one may be sent. */
  giveBack(): void {
    this.#isWhole = false;
  }

  /** Nothing of it is kept. */
  remove(): void {
    for (const name of readdirSync(this.#folder)) if (NAME.test(name)) rmSync(join(this.#folder, name), { force: true });
  }

  async #write(piece: Piece, from: Pick<Request, 'body' | 'signal'>): Promise<string | undefined> {
    try {
      const path = this.#pathFor(piece);
      await this.#append(path, piece, from);
      const { receivedBytes, totalBytes } = this.state();
      this.#isWhole = receivedBytes === (totalBytes ?? receivedBytes);
      return this.#isWhole ? path : undefined;
    } catch (error) {
      throw explained(error);
    }
  }

  #name(): string | undefined {
    return readdirSync(this.#folder).find((name) => NAME.test(name));
  }

  #pathFor({ from, totalBytes }: Piece): string {
    if (from === 0) {
      this.remove();
      const path = join(this.#folder, `upload-${totalBytes ?? 'unknown'}`);
      closeSync(openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600));
      return path;
    }
    const { receivedBytes, totalBytes: before } = this.state();
    if (from !== receivedBytes || totalBytes !== before)
      throw new ApiError('Conflict', `the next piece begins at ${receivedBytes}, of a file of ${before ?? 'unknown size'}`);
    return join(this.#folder, `upload-${totalBytes}`);
  }

  async #append(path: string, { from, to }: Piece, { body, signal }: Pick<Request, 'body' | 'signal'>): Promise<void> {
    const file = await open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK);
    let size = from;
    try {
      for await (const chunk of body ? chunksOf(body, signal) : []) {
        size += chunk.byteLength;
        if (size > (to ?? this.#maxBytes))
          throw to === undefined ? tooLarge(this.#maxBytes) : new ApiError('BadRequest', 'more was sent than was said');
        for (let rest = chunk; rest.byteLength > 0; ) rest = rest.subarray((await file.write(rest)).bytesWritten);
      }
    } finally {
      await file.close();
    }
    if (to !== undefined && size !== to) throw new ApiError('BadRequest', `${to - size} bytes fewer came than were said`);
  }
}

/** Ends when the signal says so, though the client may send nothing more for ever. */
async function* chunksOf(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  const stop = () => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener('abort', stop, { once: true });
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener('abort', stop);
    reader.releaseLock();
  }
}

function tooLarge(maxBytes: number): ApiError {
  return new ApiError('RequestEntityTooLarge', `the file is larger than its PVC has room for, ${formatBytes(maxBytes)}: make a larger one`);
}

/** What is here already stays: the client may go on when there is room. */
function explained(error: unknown): unknown {
  if (error instanceof ApiError) return error;
  if (!['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? ''))
    return new ApiError('BadRequest', `the file was not received: ${messageOf(error)}`, { cause: error });
  const message = 'the file was not received: the storage of the PVC is full: make room, and send it again';
  return new ApiError('InternalError', message, { cause: error, code: INSUFFICIENT_STORAGE });
}

function isOutOfRoom(error: unknown): boolean {
  return error instanceof ApiError && error.code === INSUFFICIENT_STORAGE;
}
