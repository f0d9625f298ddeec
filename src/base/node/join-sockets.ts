/**
 * Hands bytes from one socket to another and back, as many as there are. Node makes a new buffer for each piece that it reads, and its collector would have to find
 * each of them: at some hundred megabytes a second it goes through everything this process knows, again and again. So every piece is given back when it was written.
 */
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** On their way, in each direction. */
const MOST_UNSENT_BYTES = 1024 * 1024;
/** Nothing was heard for so long: the kernel asks whether the other side is still there, and ends the connection ten seconds later. */
const SILENCE_MS = 30_000;

/** Bytes both ways; the end of one side ends the other when it has all of them, a broken side breaks the other. */
export function joinSockets(a: Duplex, b: Duplex): void {
  hand(a, b);
  hand(b, a);
  for (const side of [a, b]) if (side instanceof Socket) side.setKeepAlive(true, SILENCE_MS);
  if (a.destroyed || b.destroyed) for (const side of [a, b]) side.destroy();
}

function hand(from: Duplex, to: Duplex): void {
  let unsentBytes = 0;
  const gather = isEncrypted(to) ? () => {} : gathererOf(to);
  from.on('data', (piece: Buffer) => {
    const { length } = piece; // that of one which was given back is 0
    unsentBytes += length;
    gather();
    to.write(piece, (error) => {
      unsentBytes -= length;
      if (error) return; // of one that was not written somebody may still be reading
      giveBack(piece);
      if (unsentBytes <= MOST_UNSENT_BYTES / 2 && from.isPaused()) from.resume();
    });
    if (unsentBytes >= MOST_UNSENT_BYTES) from.pause();
  });
  from.on('end', () => to.end());
  from.on('error', () => to.destroy());
  from.on('close', () => {
    if (!from.readableEnded) to.destroy();
  });
}

/** TLS makes one buffer of several, which costs more than it saves. */
function isEncrypted(socket: Duplex): boolean {
  return 'encrypted' in socket;
}

/** Pieces that come in one turn are written by one call: TLS gives 16 KiB at a time. */
function gathererOf(to: Duplex): () => void {
  let isGathering = false;
  return () => {
    if (isGathering) return;
    isGathering = true;
    to.cork();
    setImmediate(() => {
      isGathering = false;
      to.uncork();
    });
  };
}

/** One that is alone in its memory, as those are that a socket has read: nobody else knows of it. */
function giveBack({ buffer, byteOffset, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && byteOffset === 0 && byteLength === buffer.byteLength) buffer.transfer(0);
}
