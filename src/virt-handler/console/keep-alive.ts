/** Keeps a WebSocket alive while nothing is said on it, and notices when the other side is gone without a word. */
import type { Clock } from '../../base/clock.ts';

/** What this needs of a WebSocket. */
export type Pinged = {
  readonly isPaused: boolean;
  on(event: 'pong', listener: () => void): unknown;
  once(event: 'close', listener: () => void): unknown;
  ping(): void;
  terminate(): void;
};

export const PING_MS = 30_000;

/** Pings until the socket closes; ends it when a ping was not answered before the next is due. */
export async function keepAlive(webSocket: Pinged, clock: Clock): Promise<void> {
  const gone = new AbortController();
  webSocket.once('close', () => gone.abort());
  let isAnswered = true;
  webSocket.on('pong', () => {
    isAnswered = true;
  });
  while (true) {
    await clock.sleep(PING_MS, gone.signal);
    if (gone.signal.aborted) return;
    // An answer that we do not read, because the guest is slow to take what was typed, says nothing about the other side.
    if (!isAnswered && !webSocket.isPaused) return webSocket.terminate();
    isAnswered = false;
    webSocket.ping();
  }
}
