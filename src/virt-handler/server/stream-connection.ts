/** A connection to something of a guest that stands already: it is made before the client is told that it is. */
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';

type Connection<Client> = {
  /** Carries bytes between it and the client, until either ends. */
  readonly carry: (client: Client) => void;
  /** For a client that left meanwhile, or never finished its handshake. */
  readonly abandon: () => void;
};
export type StreamConnection = Connection<WebSocket>;
/** For a client that speaks without messages. */
export type BytesConnection = Connection<Duplex>;
