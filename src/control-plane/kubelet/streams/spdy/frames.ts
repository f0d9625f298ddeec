/** The frames of SPDY/3.1 that clients of Kubernetes send and understand. */

export type Frame =
  | { readonly type: 'data'; readonly stream: number; readonly isLast: boolean; readonly data: Buffer }
  | { readonly type: 'open'; readonly stream: number; readonly isLast: boolean; readonly headers: Buffer }
  | { readonly type: 'reset'; readonly stream: number }
  | { readonly type: 'ping'; readonly id: number }
  | { readonly type: 'goaway' }
  /** Settings, windows, late headers: nothing here depends on them. */
  | { readonly type: 'other'; readonly headers?: Buffer };

const VERSION = 3;
const HEAD_BYTES = 8;
const MAX_STREAM = 0x7fffffff;
const FIN = 1;
const TYPES = { open: 1, reply: 2, reset: 3, ping: 6, goaway: 7, headers: 8 } as const;
/** Clients write what they have read, which is tens of kilobytes. */
const MAX_FRAME_BYTES = 1024 * 1024;

/** Takes bytes as they come, gives frames as they become whole; throws for what is no SPDY, or too large to be waited for. */
export class FrameReader {
  #left: Buffer = Buffer.alloc(0);

  *read(bytes: Buffer): Generator<Frame> {
    this.#left = this.#left.length === 0 ? bytes : Buffer.concat([this.#left, bytes]);
    while (this.#left.length >= HEAD_BYTES) {
      const length = this.#left.readUIntBE(5, 3);
      if (length > MAX_FRAME_BYTES) throw new Error(`a frame of ${length} bytes is too large`);
      if (this.#left.length < HEAD_BYTES + length) return;
      const frame = this.#left.subarray(0, HEAD_BYTES + length);
      this.#left = this.#left.subarray(HEAD_BYTES + length);
      yield parseFrame(frame);
    }
  }
}

function parseFrame(frame: Buffer): Frame {
  const first = frame.readUInt32BE(0);
  const isLast = ((frame[4] ?? 0) & FIN) !== 0;
  const body = frame.subarray(HEAD_BYTES);
  if (first <= MAX_STREAM) return { type: 'data', stream: first, isLast, data: body };
  if (((first >>> 16) & 0x7fff) !== VERSION) throw new Error('this is not SPDY/3.1');
  const numberAt = (offset: number) => {
    if (body.length < offset + 4) throw new Error('a frame is too short');
    return body.readUInt32BE(offset) & MAX_STREAM;
  };
  switch (first & 0xffff) {
    case TYPES.open:
      return { type: 'open', stream: numberAt(0), isLast, headers: body.subarray(10) };
    case TYPES.reset:
      return { type: 'reset', stream: numberAt(0) };
    case TYPES.ping:
      numberAt(0);
      return { type: 'ping', id: body.readUInt32BE(0) };
    case TYPES.goaway:
      return { type: 'goaway' };
    case TYPES.reply:
    case TYPES.headers:
      numberAt(0);
      return { type: 'other', headers: body.subarray(4) };
    default:
      return { type: 'other' };
  }
}

export function dataFrame(stream: number, data: Buffer, isLast: boolean): Buffer {
  return Buffer.concat([head(stream, isLast, data.length), data]);
}

/** `headers` are compressed. */
export function replyFrame(stream: number, headers: Buffer): Buffer {
  return controlFrame(TYPES.reply, Buffer.concat([uint32(stream), headers]));
}

/** REFUSED_STREAM before anything was said on it, CANCEL after. */
export function resetFrame(stream: number, why: 'refused' | 'cancelled'): Buffer {
  return controlFrame(TYPES.reset, Buffer.concat([uint32(stream), uint32(why === 'refused' ? 3 : 5)]));
}

export function pingFrame(id: number): Buffer {
  return controlFrame(TYPES.ping, uint32(id));
}

function controlFrame(type: number, body: Buffer): Buffer {
  return Buffer.concat([head(((0x8000 | VERSION) << 16) | type, false, body.length), body]);
}

function head(first: number, isLast: boolean, length: number): Buffer {
  const bytes = Buffer.alloc(HEAD_BYTES);
  bytes.writeUInt32BE(first >>> 0, 0);
  bytes[4] = isLast ? FIN : 0;
  bytes.writeUIntBE(length, 5, 3);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
