/** Carries the bytes of one WebSocket to a port of a guest and back. */
import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import type { Socket } from 'node:net';
import { createWebSocketStream, type RawData, type WebSocket } from 'ws';
import type { Protocol } from '../../api/handler/route-path.ts';
import type { StreamConnection } from '../server/stream-connection.ts';
import { connectGuestPort, type PortQuestion } from './connect-guest-port.ts';

export type PortTarget = Omit<PortQuestion, 'signal'> & {
  readonly protocol: Protocol;
  /** Closes the way there, when the connection stands or has failed. */
  readonly release?: () => Promise<void>;
};

/** A guest that boots has no network yet, and says nothing. */
const TAKE_MS = 5_000;
const NORMAL_CLOSURE = 1000;
const MAX_UNSENT_BYTES = 1024 * 1024;

/** Connects. TCP is a stream of bytes; of UDP each message is one datagram. */
export function connectPort(target: PortTarget): Promise<StreamConnection> {
  return target.protocol === 'tcp' ? connectTcp(target) : connectUdp(target);
}

/** Nothing is promised to the client before the guest has taken the connection. */
async function connectTcp(target: PortTarget): Promise<StreamConnection> {
  const [late, decided] = [new AbortController(), new AbortController()];
  void target.clock.sleep(TAKE_MS, decided.signal).then(() => late.abort());
  try {
    const socket = await connectGuestPort({ ...target, signal: late.signal });
    return { carry: carryBytes(socket), abandon: () => socket.destroy() };
  } finally {
    decided.abort();
    void target.release?.();
  }
}

/** Hands the bytes of a socket to a WebSocket and back, until either ends. */
export function carryBytes(socket: Socket): StreamConnection['carry'] {
  return (webSocket) => {
    const stream = createWebSocketStream(webSocket);
    stream.on('error', () => socket.destroy());
    socket.on('error', () => webSocket.terminate());
    stream.on('close', () => socket.destroy()); // a WebSocket cannot be half closed
    stream.pipe(socket);
    socket.pipe(stream);
  };
}

function connectUdp({ host, port }: PortTarget): Promise<StreamConnection> {
  return new Promise((resolve, reject) => {
    const socket = createSocket('udp4');
    socket.once('error', reject);
    socket.connect(port, host, () => {
      socket.off('error', reject);
      resolve({ carry: (webSocket) => carryDatagrams(socket, webSocket), abandon: () => socket.close() });
    });
  });
}

function carryDatagrams(socket: DatagramSocket, webSocket: WebSocket): void {
  socket.on('message', (datagram) => {
    // A guest may send faster than its client reads. Datagrams may be lost; memory of the node may not.
    if (webSocket.bufferedAmount <= MAX_UNSENT_BYTES) webSocket.send(datagram, { binary: true });
  });
  socket.on('error', () => webSocket.close(NORMAL_CLOSURE));
  webSocket.on('message', (data) => socket.send(bytesOf(data)));
  webSocket.on('error', () => webSocket.terminate());
  webSocket.once('close', () => socket.close());
}

function bytesOf(data: RawData): Uint8Array {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : new Uint8Array(data);
}
