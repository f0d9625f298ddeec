/** Carries the bytes of one WebSocket to a port of a guest and back. */
import { createSocket } from 'node:dgram';
import { connect, type Socket } from 'node:net';
import { createWebSocketStream, type RawData, type WebSocket } from 'ws';
import type { Protocol } from './decide-forwards.ts';

export type PortTarget = { readonly protocol: Protocol; readonly host: string; readonly port: number };
/** A connection to a guest that stands: it is made before the caller is told that it is. */
export type PortConnection = (webSocket: WebSocket) => void;

const CONNECT_TIMEOUT_MS = 10_000;
const NORMAL_CLOSURE = 1000;
const MAX_UNSENT_BYTES = 1024 * 1024;

/** Connects; the answer takes the WebSocket over. TCP is a stream of bytes; of UDP each message is one datagram. */
export function connectPort(target: PortTarget): Promise<PortConnection> {
  return target.protocol === 'tcp' ? connectTcp(target) : connectUdp(target);
}

function connectTcp({ host, port }: PortTarget): Promise<PortConnection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true, timeout: CONNECT_TIMEOUT_MS });
    const onTimeout = () => socket.destroy(new Error(`no answer within ${CONNECT_TIMEOUT_MS / 1000} s`));
    socket.once('timeout', onTimeout);
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject).off('timeout', onTimeout).setTimeout(0);
      socket.pause();
      resolve(carry(socket));
    });
  });
}

/** Hands the bytes of a socket to a WebSocket and back, until either ends. */
export function carry(socket: Socket): PortConnection {
  return (webSocket) => {
    const stream = createWebSocketStream(webSocket);
    stream.on('error', () => socket.destroy());
    socket.on('error', () => webSocket.terminate());
    stream.on('close', () => socket.destroy()); // a WebSocket cannot be half closed
    stream.pipe(socket);
    socket.pipe(stream);
  };
}

function connectUdp({ host, port }: PortTarget): Promise<PortConnection> {
  return new Promise((resolve, reject) => {
    const socket = createSocket('udp4');
    socket.once('error', reject);
    socket.connect(port, host, () => {
      socket.off('error', reject);
      resolve((webSocket) => {
        socket.on('message', (datagram) => {
          // A guest may send faster than its client reads. Datagrams may be lost; memory of the node may not.
          if (webSocket.bufferedAmount <= MAX_UNSENT_BYTES) webSocket.send(datagram, { binary: true });
        });
        socket.on('error', () => webSocket.close(NORMAL_CLOSURE));
        webSocket.on('message', (data) => socket.send(bytesOf(data)));
        webSocket.on('error', () => webSocket.terminate());
        webSocket.once('close', () => socket.close());
      });
    });
  });
}

function bytesOf(data: RawData): Uint8Array {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : new Uint8Array(data);
}
