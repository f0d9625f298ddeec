/** Keeps a WebSocket alive while nothing is said on it, and notices when the other side is gone without a word. */
import type { Clock } from './clock.ts';

/** What this needs of a WebSocket. */
export type Pinged = {
  readonly isPaused: boolean;
  on(event: 'ping' | 'pong', listener: () => void): unknown;
  once(event: 'close', listener: () => void): unknown;
  ping(): void;
  terminate(): void;
};

export const PING_MS = 30_000;

/**
 * Pings until the socket closes; ends it when nothing was heard before the next ping is due. A ping of the other side counts:
 * one that is too busy to read ours, because the guest is slow to take what was typed, is still there.
 */
export async function keepAlive(webSocket: Pinged, clock: Clock): Promise<void> {
  const gone = new AbortController();
  webSocket.once('close', () => gone.abort());
  let isHeard = true;
  const hear = () => {
    isHeard = true;
  };
  webSocket.on('pong', hear);
  webSocket.on('ping', hear);
  while (true) {
    await clock.sleep(PING_MS, gone.signal);
    if (gone.signal.aborted) return;
    // An answer that we do not read, because the guest is slow to take what was typed, says nothing about the other side.
    if (!isHeard && !webSocket.isPaused) return webSocket.terminate();
    isHeard = false;
    webSocket.ping();
  }
}
