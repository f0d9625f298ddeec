/**
 * The serial port of one guest. This is the only client of its socket, and it always reads: a client that does not would stop
 * the guest. Everybody who looks gets a copy; who does not keep up is dropped. One at a time types:
 *
 *   a viewer that writes comes        it types from now on
 *   a shared viewer takes over        it types from now on
 *   a plain viewer types              it types from now on: it knows of no other way to ask
 *   a shared viewer types in between  what it typed is dropped
 *   who typed has left                nobody does, until somebody tries to
 *   a viewer comes back after a move  nobody does, until somebody tries to
 *
 * While the guest is on its way to another node nothing is typed into it. When it has arrived, our own viewers are told how much of what they
 * typed it got and how much of what it printed is known there, so that they go on without a gap; others are cut off.
 */
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { RawData, WebSocket } from 'ws';
import { MOVED_CODE, type Moved, movedReason } from '../../api/handler/moved.ts';
import type { ConsoleQuestion } from '../../api/handler/questions.ts';
import { TAKE_OVER, TURNS } from '../../api/handler/turns.ts';
import type { GuestStart } from '../../api/handler/usage-history.ts';
import { SERIAL_LOG, SERIAL_SOCKET } from '../../api/launcher/files.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { connectUnixSocket } from '../../qemu/qmp/connect-socket.ts';
import type { StreamConnection } from '../server/stream-connection.ts';
import { LogJoin } from './log-join.ts';
import { Scrollback } from './scrollback.ts';
import { appendLog, trimLog } from './serial-log.ts';
import { StartMarks } from './start-marks.ts';

type Viewer = {
  /** A shared viewer gets what was written before it came, and leaves the others alone. */
  readonly isShared: boolean;
  /** May type; others only look. */
  readonly writes: boolean;
  /** Whether it is the one who types now. */
  readonly showTurn: (isWriter: boolean) => void;
  /** False when the viewer is too slow. */
  readonly send: (bytes: Buffer) => boolean;
  readonly close: (why: string) => void;
  /** Ends it because the guest goes on at another node. */
  readonly move: (moved: Moved) => void;
  /** How much of what it typed is done with: the guest has it, or it was not its turn. */
  taken: number;
  /** Ends the connection without a word. */
  readonly cut: () => void;
};
type Wish = Pick<Viewer, 'isShared' | 'writes'> & {
  /** Comes back after a move, and has seen so much. */
  readonly from?: number | undefined;
};
export type SerialConsoleOptions = {
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** The guest has just been started: when it first prints and asks for a login is worth knowing. */
  readonly isStart?: boolean;
};

const SCROLLBACK_BYTES = 1024 * 1024;
const LOG_CAP_BYTES = 1024 * 1024;
const LOG_KEEP_BYTES = 512 * 1024;
/** The log is looked at once per this much output. */
const TRIM_EVERY_BYTES = 128 * 1024;
const MAX_UNSENT_INPUT_BYTES = 64 * 1024;
const RETRY_MS = 1_000;
const OPEN_PATIENCE_MS = 5_000;
/** Of one viewer: all that is kept of the past, and room for what comes meanwhile. */
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;
const NORMAL_CLOSURE = 1000;
/** A guest writes byte by byte; who looks gets the first at once and the rest in pieces. */
const GATHER_MS = 10;

export class SerialConsole {
  readonly #options: SerialConsoleOptions;
  readonly #abort = new AbortController();
  readonly #viewers = new Set<Viewer>();
  #scrollback = new Scrollback(SCROLLBACK_BYTES);
  readonly #marks: StartMarks | undefined;
  readonly #found = Promise.withResolvers<boolean>();
  #socket: Socket | undefined;
  #writer: Viewer | undefined;
  #isOpening = false;
  #gathered: Buffer[] = [];
  #isGathering = false;
  readonly #logJoin: LogJoin;
  /** What comes through the socket follows what was shown. */
  #isJoined = false;
  #bytesSinceTrim = 0;
  #trimming: Promise<void> | undefined;
  /** While the guest is on its way: resolves when it is not any more. */
  #held: PromiseWithResolvers<void> | undefined;
  /** How much of what was printed another node was given. */
  #givenAway = 0;

  constructor(options: SerialConsoleOptions) {
    this.#options = options;
    this.#logJoin = new LogJoin(join(options.folder, SERIAL_LOG));
    if (options.isStart) this.#marks = new StartMarks();
  }

  /** Connects if there is a serial port, and stays connected; calling it again is harmless. */
  open(): void {
    if (this.#isOpening) return;
    this.#isOpening = true;
    void this.#keepOpen().finally(() => {
      this.#isOpening = false;
    });
  }

  /** Connects a client; a serial port that is just being opened is waited for. Throws NotFound when there is none. */
  async connect(question: ConsoleQuestion): Promise<StreamConnection> {
    if (!(await this.#isThere())) throw new ApiError('NotFound', 'the guest has no serial console');
    // What was printed before is all that a client wants which does not follow.
    const { shared: isShared = false, follow: follows = true, write = true, from } = question;
    const wish = { isShared, writes: follows && write, from };
    return {
      carry: (webSocket) => {
        this.#view(webSocket, wish);
        if (!follows) webSocket.close(NORMAL_CLOSURE, 'that is all so far');
      },
      abandon: () => {},
    };
  }

  /** Adds a viewer; one that does not share takes the place of the last one that did not. Returns how to leave. */
  attach(viewer: Viewer, from?: number): () => void {
    if (!viewer.isShared) for (const other of this.#viewers) if (!other.isShared) this.#cut(other, 'another client took over the console');
    const past = viewer.isShared ? this.#scrollback.read(from) : Buffer.alloc(0);
    if (past.length > 0) viewer.send(past);
    if (this.#abort.signal.aborted) viewer.close('the guest has ended');
    else this.#viewers.add(viewer);
    if (viewer.writes && from === undefined) this.#takeOver(viewer);
    return () => this.#leave(viewer);
  }

  /** When it first printed something, as far as that was seen. */
  get start(): GuestStart {
    return this.#marks?.start ?? {};
  }

  /** What is kept of what the guest printed. */
  past(): Buffer {
    return Buffer.concat([this.#scrollback.read(), ...this.#gathered]);
  }

  /** The same, for the node that the guest goes to; whoever looks has seen it when the guest has moved. */
  giveAway(): Buffer {
    const past = this.past();
    this.#givenAway = past.length;
    return past;
  }

  /** What the guest printed before it came here. */
  async takePast(bytes: Buffer): Promise<void> {
    const here = this.#scrollback.read();
    this.#scrollback = new Scrollback(SCROLLBACK_BYTES);
    this.#scrollback.push(bytes);
    this.#scrollback.push(here);
    this.#logJoin.skip(bytes.length);
    await appendLog(this.#logPath, bytes);
  }

  /** Whether what is typed waits, because the guest is on its way to another node. */
  hold(isHeld: boolean): void {
    if (isHeld) this.#held ??= Promise.withResolvers();
    else this.#release();
  }

  close(why: 'ended' | 'moved' = 'ended'): void {
    this.#abort.abort();
    this.#found.resolve(false);
    this.#socket?.destroy();
    for (const viewer of this.#viewers)
      if (why === 'ended') this.#drop(viewer, 'the guest has ended');
      else this.#letFollow(viewer);
    this.#release();
  }

  /** One of ours goes on at the other node. */
  #letFollow(viewer: Viewer): void {
    if (viewer.isShared) {
      this.#leave(viewer);
      viewer.move({ taken: viewer.taken, printed: this.#givenAway });
    } else this.#cut(viewer, 'the guest has moved to another node');
  }

  #release(): void {
    this.#held?.resolve();
    this.#held = undefined;
  }

  /** Whether there is a serial port to look at. A guest that is just starting is waited for. */
  async #isThere(): Promise<boolean> {
    const decided = new AbortController();
    const tooLate = this.#options.clock.sleep(OPEN_PATIENCE_MS, decided.signal).then(() => false);
    const isThere = await Promise.race([this.#found.promise, tooLate]);
    decided.abort();
    return isThere;
  }

  #view(webSocket: WebSocket, wish: Wish): void {
    const gone = new AbortController();
    const viewer = viewerFor(webSocket, wish);
    webSocket.once('close', () => gone.abort());
    webSocket.on('error', () => webSocket.terminate());
    webSocket.on('message', (data, isBinary) => {
      // Bytes of the console are binary; of a shared client text is a wish.
      if (wish.isShared && !isBinary) return void (String(data) === TAKE_OVER && this.#takeOver(viewer));
      // Nothing more is read from a client until the guest has taken what it typed.
      webSocket.pause();
      void this.#write(viewer, bytesOf(data), gone.signal).finally(() => webSocket.resume());
    });
    webSocket.once('close', this.attach(viewer, wish.from));
  }

  /** Makes this viewer the one who types. */
  #takeOver(viewer: Viewer): void {
    if (!viewer.writes || this.#writer === viewer || !this.#viewers.has(viewer)) return;
    const last = this.#writer;
    this.#writer = viewer;
    last?.showTurn(false);
    viewer.showTurn(true);
  }

  /** Types into the guest, if it is this viewer's turn. Resolves when there is room for more. */
  async #write(viewer: Viewer, bytes: Buffer, signal: AbortSignal): Promise<void> {
    while (this.#held && !signal.aborted) await Promise.race([this.#held.promise, aborted(signal)]);
    if (signal.aborted || !this.#viewers.has(viewer)) return;
    if (!viewer.isShared || !this.#writer) this.#takeOver(viewer);
    viewer.taken += bytes.length;
    const socket = this.#writer === viewer ? this.#socket : undefined;
    if (!socket || socket.write(bytes) || socket.writableLength <= MAX_UNSENT_INPUT_BYTES) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    socket.once('drain', resolve).once('close', resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
    await promise;
    socket.off('drain', resolve).off('close', resolve);
  }

  get #logPath(): string {
    return join(this.#options.folder, SERIAL_LOG);
  }

  async #keepOpen(): Promise<void> {
    const { folder, clock, log } = this.#options;
    const { signal } = this.#abort;
    // What the guest wrote while nobody was connected is in the log only.
    const missed = await this.#logJoin.readPast(SCROLLBACK_BYTES);
    this.#scrollback.push(missed);
    this.#marks?.see(missed, clock.now());
    while (!signal.aborted) {
      try {
        await this.#drain(await connectUnixSocket(join(folder, SERIAL_SOCKET), signal));
      } catch (error) {
        // A guest without a serial console has no socket; QEMU made all of them before it answered on QMP.
        if (!signal.aborted) log.debug('no serial console', { error });
        this.#found.resolve(false);
        return;
      }
      await clock.sleep(RETRY_MS, signal);
    }
  }

  #drain(socket: Socket): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#socket = socket;
    this.#found.resolve(true);
    socket.on('error', () => {}); // 'close' follows
    socket.once('close', () => {
      this.#socket = undefined;
      resolve();
    });
    socket.on('data', (bytes) => this.#receive(bytes));
    if (!this.#isJoined && !this.#isGathering) void this.#showJoined();
    if (this.#abort.signal.aborted) socket.destroy();
    return promise;
  }

  #receive(bytes: Buffer): void {
    this.#gathered.push(bytes);
    if (!this.#isGathering) void (this.#isJoined ? this.#show() : this.#showJoined());
    this.#bytesSinceTrim += bytes.length;
    if (this.#bytesSinceTrim >= TRIM_EVERY_BYTES && !this.#trimming) this.#trim();
  }

  /** The first that comes: some of what was printed before is only in the log, and some of what comes is there, too, and was shown. */
  async #showJoined(): Promise<void> {
    this.#isGathering = true;
    await this.#options.clock.sleep(GATHER_MS, this.#abort.signal);
    const first = await this.#logJoin.join(() => {
      const received = Buffer.concat(this.#gathered);
      this.#gathered = [];
      this.#isJoined = received.length > 0;
      return received;
    });
    if (first.length > 0) this.#gathered.unshift(first);
    await this.#show();
  }

  /** Sends on what came, and then what comes during each pause, until nothing came. */
  async #show(): Promise<void> {
    this.#isGathering = true;
    while (this.#gathered.length > 0) {
      const bytes = Buffer.concat(this.#gathered);
      this.#gathered = [];
      this.#scrollback.push(bytes);
      this.#marks?.see(bytes, this.#options.clock.now());
      for (const viewer of this.#viewers) if (!viewer.send(bytes)) this.#drop(viewer, 'too slow');
      await this.#options.clock.sleep(GATHER_MS);
    }
    this.#isGathering = false;
  }

  #trim(): void {
    this.#bytesSinceTrim = 0;
    this.#trimming = trimLog(this.#logPath, { capBytes: LOG_CAP_BYTES, keepBytes: LOG_KEEP_BYTES })
      .catch((error: unknown) => this.#options.log.warn('cannot shorten the serial log', { error }))
      .finally(() => {
        this.#trimming = undefined;
      });
  }

  #leave(viewer: Viewer): void {
    this.#viewers.delete(viewer);
    if (this.#writer === viewer) this.#writer = undefined;
  }

  /** As clients of KubeVirt expect it: they take a close frame for the end of the guest. */
  #cut(viewer: Viewer, because: string): void {
    this.#leave(viewer);
    viewer.cut();
    this.#options.log.info('console closed', { because });
  }

  #drop(viewer: Viewer, why: string): void {
    this.#leave(viewer);
    viewer.close(why);
  }
}

function viewerFor(webSocket: WebSocket, { isShared, writes }: Wish): Viewer {
  return {
    isShared,
    writes,
    taken: 0,
    move: (moved) => webSocket.close(MOVED_CODE, movedReason(moved)),
    showTurn: (isWriter) => {
      if (isShared && webSocket.readyState === webSocket.OPEN) webSocket.send(isWriter ? TURNS.mine : TURNS.others);
    },
    send: (bytes) => {
      if (webSocket.bufferedAmount > MAX_UNSENT_BYTES) return false;
      if (webSocket.readyState === webSocket.OPEN) webSocket.send(bytes, { binary: true });
      return true;
    },
    close: (why) => webSocket.close(NORMAL_CLOSURE, why),
    cut: () => webSocket.terminate(),
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
