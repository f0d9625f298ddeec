/** Carries the bytes of one WebSocket to a port of a guest and back. */
import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { connect, type Socket } from 'node:net';
import { createWebSocketStream, type RawData, type WebSocket } from 'ws';
import type { Protocol } from '../../api/handler/route-path.ts';
import type { StreamConnection } from '../server/stream-connection.ts';

export type PortTarget = { readonly protocol: Protocol; readonly host: string; readonly port: number };

const CONNECT_TIMEOUT_MS = 10_000;
const NORMAL_CLOSURE = 1000;
const MAX_UNSENT_BYTES = 1024 * 1024;

/** Connects. TCP is a stream of bytes; of UDP each message is one datagram. */
export function connectPort(target: PortTarget): Promise<StreamConnection> {
  return target.protocol === 'tcp' ? connectTcp(target) : connectUdp(target);
}

function connectTcp({ host, port }: PortTarget): Promise<StreamConnection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true, timeout: CONNECT_TIMEOUT_MS });
    const onTimeout = () => socket.destroy(new Error(`no answer within ${CONNECT_TIMEOUT_MS / 1000} s`));
    socket.once('timeout', onTimeout);
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject).off('timeout', onTimeout).setTimeout(0);
      socket.pause();
      resolve({ carry: carryBytes(socket), abandon: () => socket.destroy() });
    });
  });
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
