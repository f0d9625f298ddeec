/** Datagrams on a stream: two bytes of length before each. */
import type { Socket } from 'node:net';

const MAX_DATAGRAM = 65_507;

/** What waits on a stream at most; datagrams may be lost. */
const MAX_WAITING = 1024 * 1024;

/** Sends a datagram, or loses it when the other side is too slow. */
export function sendFrame(stream: Socket, datagram: Buffer): void {
  if (stream.writableLength > MAX_WAITING) return;
  const head = Buffer.alloc(2);
  head.writeUInt16BE(datagram.length);
  stream.write(Buffer.concat([head, datagram]));
}

/** Tells of every whole datagram; a stream that promises more than a datagram can hold is ended. */
export function framesOf(stream: Socket, onDatagram: (datagram: Buffer) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= 2) {
      const length = rest.readUInt16BE();
      if (length > MAX_DATAGRAM) return void stream.destroy();
      if (rest.length < 2 + length) return;
      onDatagram(rest.subarray(2, 2 + length));
      rest = rest.subarray(2 + length);
    }
  });
}
