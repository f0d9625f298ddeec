/** The server's side of a SPDY/3.1 connection. Clients open streams; each is a Duplex. There are no windows: TCP holds back who is too fast. */
import { Duplex } from 'node:stream';
import type { Clock } from '../../../../base/clock.ts';
import { PING_MS } from '../../../../base/keep-alive.ts';
import { dataFrame, type Frame, FrameReader, pingFrame, replyFrame, resetFrame } from './frames.ts';
import { HeaderBlocks, type Headers } from './header-blocks.ts';

export type SpdyStream = Duplex & { readonly headers: Headers };
export type SpdyConnection = {
  /** Aborted when the connection is over. */
  readonly gone: AbortSignal;
  /** Says goodbye once everything was written. */
  end(): void;
};

type Options = {
  /** The bytes of the connection: a socket, or messages of a WebSocket. */
  readonly wire: Duplex;
  readonly onStream: (stream: SpdyStream) => void;
  readonly clock: Clock;
};

/** Hundreds of requests through one forwarded port, two streams for each. */
const MAX_STREAMS = 1000;

export function openSpdyConnection(options: Options): SpdyConnection {
  const connection = new Connection(options);
  void connection.run();
  void connection.keepAlive(options.clock);
  return { gone: connection.gone.signal, end: () => options.wire.end() };
}

class Connection {
  readonly gone = new AbortController();
  readonly #streams = new Map<number, Stream>();
  readonly #options: Options;
  readonly #blocks = new HeaderBlocks();
  #last = 0;

  constructor(options: Options) {
    this.#options = options;
    const { wire } = options;
    wire.on('error', () => wire.destroy());
    // The client may have left while it was let in.
    if (wire.closed) this.#end();
    else wire.once('close', () => this.#end());
  }

  #end(): void {
    this.gone.abort();
    this.#blocks.close();
    for (const stream of this.#streams.values()) stream.destroy();
  }

  async run(): Promise<void> {
    const { wire } = this.#options;
    const frames = new FrameReader();
    try {
      for await (const chunk of wire) for (const frame of frames.read(chunk)) await this.#take(frame);
    } catch {
      // what is not SPDY is not answered
    }
    wire.destroy();
  }

  /** A client that is gone without a word is noticed by what cannot be sent to it. */
  async keepAlive(clock: Clock): Promise<void> {
    for (let id = 2; ; id += 2) {
      await clock.sleep(PING_MS, this.gone.signal);
      if (this.gone.signal.aborted) return;
      this.send(pingFrame(id % 0x7fffffff));
    }
  }

  /** Resolves when the next may be looked at: a stream that is not read holds all of them back. */
  async #take(frame: Frame): Promise<void> {
    switch (frame.type) {
      case 'open':
        return this.#open(frame);
      case 'data':
        return this.#streams.get(frame.stream)?.arrived(frame.data, frame.isLast);
      case 'reset':
        this.#streams.get(frame.stream)?.wasReset();
        return;
      case 'ping':
        if (frame.id % 2 === 1) this.send(pingFrame(frame.id)); // the others are answers to ours
        return;
      case 'other':
        if (frame.headers) await this.#blocks.read(frame.headers); // the next block builds on it
        return;
      case 'goaway':
        return;
    }
  }

  async #open({ stream: id, isLast, headers: block }: Extract<Frame, { type: 'open' }>): Promise<void> {
    const headers = await this.#blocks.read(block);
    if (id % 2 === 0 || id <= this.#last) throw new Error('numbers of streams are odd and grow');
    this.#last = id;
    if (this.#streams.size >= MAX_STREAMS) return void this.send(resetFrame(id, 'refused'));
    const stream = new Stream({ id, headers, send: (bytes, done) => this.send(bytes, done), onClose: () => this.#streams.delete(id) });
    this.#streams.set(id, stream);
    this.send(replyFrame(id, await this.#blocks.none()));
    if (isLast) stream.push(null);
    this.#options.onStream(stream);
  }

  send(bytes: Buffer, done: () => void = () => {}): void {
    const { wire } = this.#options;
    if (wire.writable) wire.write(bytes, () => done());
    else done(); // the connection is over, which everybody is told otherwise
  }
}

type StreamOptions = {
  readonly id: number;
  readonly headers: Headers;
  readonly send: (bytes: Buffer, done?: () => void) => void;
  readonly onClose: () => void;
};

class Stream extends Duplex {
  readonly headers: Headers;
  readonly #options: StreamOptions;
  #isOver = false;
  #wanted: () => void = () => {};

  constructor(options: StreamOptions) {
    super({ allowHalfOpen: true });
    this.headers = options.headers;
    this.#options = options;
    this.on('error', () => {}); // its pair or its process is told by what it was joined with
  }

  async arrived(data: Buffer, isLast: boolean): Promise<void> {
    if (this.destroyed || this.readableEnded) return;
    const takes = data.length === 0 || this.push(data);
    if (isLast) this.push(null);
    else if (!takes)
      await new Promise<void>((resolve) => {
        this.#wanted = resolve;
      });
  }

  /** The client wants no more of it. */
  wasReset(): void {
    this.#isOver = true;
    this.destroy();
  }

  override _read(): void {
    this.#wanted();
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#options.send(dataFrame(this.#options.id, chunk, false), done);
  }

  override _final(done: () => void): void {
    this.#options.send(dataFrame(this.#options.id, Buffer.alloc(0), true), done);
  }

  override _destroy(_error: Error | null, done: () => void): void {
    this.#wanted();
    if (!this.#isOver && !(this.readableEnded && this.writableFinished)) this.#options.send(resetFrame(this.#options.id, 'cancelled'));
    this.#options.onClose();
    done();
  }
}
