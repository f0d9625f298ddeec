/** A connection to something of a guest that stands already: it is made before the client is told that it is. */
import type { WebSocket } from 'ws';

export type StreamConnection = {
  /** Carries bytes between it and the client, until either ends. */
  readonly carry: (webSocket: WebSocket) => void;
  /** For a client that left meanwhile, or never finished its handshake. */
  readonly abandon: () => void;
};
