/** A WebSocket as web streams, the browser's own and that of Node's library alike. */
import { type Clock, systemClock } from '../base/clock.ts';
import type { ByteStream } from './streams.ts';

/** What both have. */
export type StreamSocket = {
  binaryType: string;
  readonly bufferedAmount: number;
  send(bytes: Uint8Array<ArrayBuffer>): void;
  close(): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: 'close', listener: (event: { readonly code: number; readonly reason: string }) => void): void;
  /** A browser has neither: there, what is not read is kept. */
  pause?(): void;
  resume?(): void;
};

const MAX_UNREAD_BYTES = 256 * 1024;
const MAX_UNSENT_BYTES = 1024 * 1024;
const LOOK_MS = 10;
const ABNORMAL = 1006;

/** Of an open socket. Text is for other things than bytes and is left out; a connection that breaks is an error of the reader. */
export function streamOf(socket: StreamSocket, clock: Clock = systemClock): ByteStream {
  let isClosed = false;
  const readable = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        socket.binaryType = 'arraybuffer';
        socket.addEventListener('message', ({ data }) => {
          if (isClosed || !(data instanceof ArrayBuffer)) return;
          controller.enqueue(new Uint8Array(data));
          if ((controller.desiredSize ?? 0) <= 0) socket.pause?.();
        });
        socket.addEventListener('close', ({ code, reason }) => {
          if (isClosed) return;
          isClosed = true;
          if (code === ABNORMAL) controller.error(new Error(reason || 'the connection broke'));
          else controller.close();
        });
      },
      pull: () => socket.resume?.(),
      cancel: close,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: MAX_UNREAD_BYTES }),
  );
  const writable = new WritableStream<Uint8Array>({
    async write(bytes) {
      if (isClosed) throw new Error('the connection is closed');
      socket.send(new Uint8Array(bytes));
      while (!isClosed && socket.bufferedAmount > MAX_UNSENT_BYTES) await clock.sleep(LOOK_MS);
    },
  });

  function close(): void {
    isClosed = true;
    socket.close();
  }
  return { readable, writable, close, [Symbol.asyncDispose]: async () => close() };
}
