/**
 * A QMP session with one QEMU: greeting, capabilities, commands matched to their answers by id, events.
 * A silent or broken peer costs a time-out, never more memory than one line.
 */
import type { Socket } from 'node:net';
import { type Clock, systemClock } from '../../base/clock.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import { connectUnixSocket } from './connect-socket.ts';

export type QmpEvent = { readonly event: string; readonly data: JsonObject };
export type QmpClient = {
  /** Resolves with what QEMU returned; rejects with QmpError (QEMU refused), QmpTimeout, or because the session ended. */
  execute(command: string, args?: object, options?: { readonly timeoutMs?: number }): Promise<unknown>;
  /** Resolves when the session is over, whoever ended it. */
  readonly closed: Promise<void>;
  close(): void;
};
export type QmpOptions = {
  /** The socket; of any length. */
  readonly path: string;
  /** Called for every event from the first one on; QEMU sends none before the session is set up. */
  readonly onEvent?: (event: QmpEvent) => void;
  /** For the greeting and, unless the call says otherwise, for each command. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
};

/** QEMU understood the command and refused it. */
export class QmpError extends Error {
  override readonly name = 'QmpError';
  readonly errorClass: string;
  constructor(command: string, errorClass: string, description: string) {
    super(`QEMU refused ${command}: ${description}`);
    this.errorClass = errorClass;
  }
}

/** QEMU did not answer in time; it may still do so, and may have done what was asked. */
export class QmpTimeout extends Error {
  override readonly name = 'QmpTimeout';
}

const DEFAULT_TIMEOUT_MS = 5000;
/** The longest answer QEMU gives us is a few hundred kilobytes (query-qmp-schema). */
const MAX_LINE_BYTES = 1024 * 1024;
const NEWLINE = 10;

/** Connects, waits for the greeting and enters command mode. */
export async function connectQmp(options: QmpOptions): Promise<QmpClient> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, clock = systemClock, signal } = options;
  const socket = await connectUnixSocket(options.path, signal);
  const session = new QmpSession({ socket, clock, timeoutMs, onEvent: options.onEvent ?? (() => {}) });
  const abort = () => session.end(new Error('the QMP session was aborted'));
  signal?.addEventListener('abort', abort, { once: true });
  void session.closed.then(() => signal?.removeEventListener('abort', abort));
  if (signal?.aborted) abort();
  try {
    await session.greeted;
    await session.execute('qmp_capabilities');
    return session;
  } catch (error) {
    session.close();
    throw error;
  }
}

type SessionOptions = Required<Pick<QmpOptions, 'onEvent' | 'timeoutMs' | 'clock'>> & { readonly socket: Socket };
type Waiting = { readonly command: string; readonly resolve: (value: unknown) => void; readonly reject: (error: unknown) => void };

class QmpSession implements QmpClient {
  readonly closed: Promise<void>;
  readonly greeted: Promise<void>;
  readonly #options: SessionOptions;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #unread: Buffer[] = [];
  #unreadBytes = 0;
  #endedBy: Error | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    const { socket } = options;
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    // The greeting is waited for like the answer to a command with the id 0, which no command has.
    this.greeted = this.#answerTo(0, 'the greeting', options.timeoutMs).then(() => {});
    socket.on('data', (chunk) => this.#read(chunk));
    socket.on('error', (error) => this.end(error));
    socket.once('close', () => this.end(new Error('QEMU closed the QMP session')));
  }

  execute(command: string, args?: object, { timeoutMs = this.#options.timeoutMs }: { readonly timeoutMs?: number } = {}): Promise<unknown> {
    if (this.#endedBy) return Promise.reject(new Error(`Cannot execute ${command}: ${this.#endedBy.message}`, { cause: this.#endedBy }));
    const id = ++this.#lastId;
    const answer = this.#answerTo(id, command, timeoutMs);
    this.#options.socket.write(`${JSON.stringify({ execute: command, arguments: args, id })}\n`);
    return answer;
  }

  close(): void {
    this.end(new Error('the QMP session was closed'));
  }

  /** Ends the session once, with the reason that every waiting command is told. */
  end(reason: Error): void {
    if (this.#endedBy) return;
    this.#endedBy = reason;
    this.#unread = [];
    this.#options.socket.destroy();
    for (const { command, reject } of this.#waiting.values())
      reject(new Error(`${command} was not answered: ${reason.message}`, { cause: reason }));
    this.#waiting.clear();
  }

  #answerTo(id: number, command: string, timeoutMs: number): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#waiting.set(id, { command, resolve, reject });
    const answered = new AbortController();
    void this.#options.clock.sleep(timeoutMs, answered.signal).then(() => {
      if (!answered.signal.aborted && this.#waiting.delete(id))
        reject(new QmpTimeout(`QEMU did not answer ${command} within ${timeoutMs} ms`));
    });
    return promise.finally(() => answered.abort());
  }

  #read(chunk: Buffer): void {
    let rest = chunk;
    while (!this.#endedBy) {
      const newline = rest.indexOf(NEWLINE);
      const piece = newline < 0 ? rest : rest.subarray(0, newline);
      this.#unreadBytes += piece.length;
      if (this.#unreadBytes > MAX_LINE_BYTES) this.end(new Error(`QEMU sent a line of more than ${MAX_LINE_BYTES} bytes`));
      this.#unread.push(piece);
      if (newline < 0) return;
      const line = Buffer.concat(this.#unread).toString();
      this.#unread = [];
      this.#unreadBytes = 0;
      rest = rest.subarray(newline + 1);
      this.#receive(line);
    }
  }

  #receive(line: string): void {
    const message = parse(line);
    if (!message) this.end(new Error('QEMU sent something that is not JSON'));
    else if ('QMP' in message) this.#take(0)?.resolve(message['QMP']);
    else if (typeof message['event'] !== 'string') this.#answer(message);
    else this.#options.onEvent({ event: message['event'], data: isObject(message['data']) ? message['data'] : {} });
  }

  #answer(message: JsonObject): void {
    const waiting = this.#take(message['id']);
    // An answer nobody waits for came after its time-out.
    if (!waiting) return;
    const error = message['error'];
    if (isObject(error)) waiting.reject(new QmpError(waiting.command, String(error['class']), String(error['desc'])));
    else waiting.resolve(message['return']);
  }

  #take(id: unknown): Waiting | undefined {
    if (typeof id !== 'number') return undefined;
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }
}

function parse(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
