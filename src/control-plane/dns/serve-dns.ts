/** The name server itself: takes questions from inside the cluster by UDP and TCP. */
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { createServer, type Server, type Socket } from 'node:net';
import type { Logger } from '../../base/log.ts';
import { type Answering, answerQuery } from './answer-query.ts';

export type DnsListener = { readonly host: string; readonly port: number; readonly protocol: 'udp' | 'tcp' };
export type ServeDnsOptions = Answering & {
  readonly listeners: readonly DnsListener[];
  /** Whether somebody at this address may ask. */
  readonly isInside: (address: string) => boolean;
  readonly log: Logger;
  readonly signal: AbortSignal;
};

const MAX_CONNECTIONS = 64;
const IDLE_MS = 10_000;
const MAX_QUERY_BYTES = 4_096;
/** Datagrams that are being answered at once; more are dropped, and asked again by who is in earnest. */
const MAX_UNDER_WAY = 512;

/** Resolves when it listens everywhere; ends with the signal. */
export async function serveDns(options: ServeDnsOptions): Promise<void> {
  const { listeners, signal } = options;
  const open = await Promise.all(
    listeners.map((listener) => (listener.protocol === 'udp' ? listenUdp(listener, options) : listenTcp(listener, options))),
  );
  const close = () => {
    for (const each of open) each.close();
  };
  if (signal.aborted) close();
  else signal.addEventListener('abort', close, { once: true });
}

function listenUdp({ host, port }: DnsListener, options: ServeDnsOptions): Promise<UdpSocket> {
  const { isInside, log } = options;
  const socket = createSocket({ type: 'udp4', reuseAddr: true }); // a guest may serve names at the address of its Pod
  let underWay = 0;
  socket.on('message', (message, { address, port: from }) => {
    if (underWay >= MAX_UNDER_WAY || message.length > MAX_QUERY_BYTES || !isInside(address)) return;
    underWay += 1;
    void answerQuery(message, 'udp', options)
      .then((answer) => answer && socket.send(answer, from, address, () => {}))
      .catch((error) => log.warn('a question about a name failed', { error }))
      .finally(() => {
        underWay -= 1;
      });
  });
  return new Promise((resolve, reject) => {
    socket.once('error', reject).bind(port, host, () => {
      socket.off('error', reject).on('error', (error) => log.warn('the name server has trouble', { error }));
      resolve(socket);
    });
  });
}

function listenTcp({ host, port }: DnsListener, options: ServeDnsOptions): Promise<Server> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    if (!options.isInside(socket.remoteAddress ?? '')) return void socket.destroy();
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    serveConnection(socket, options);
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.once('close', () => {
    for (const socket of sockets) socket.destroy();
  });
  options.signal.addEventListener('abort', () => [...sockets].forEach((socket) => void socket.destroy()), { once: true });
  return new Promise((resolve, reject) => server.once('error', reject).listen(port, host, () => resolve(server)));
}

/** One question after the other: who sends many at once waits. */
function serveConnection(socket: Socket, options: ServeDnsOptions): void {
  let rest: Buffer = Buffer.alloc(0);
  let isBusy = false;
  const end = () => void socket.destroy();
  socket.setTimeout(IDLE_MS, end).on('error', end);
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    if (rest.length > 2 * MAX_QUERY_BYTES) return end();
    if (!isBusy) void answerAll();
  });
  async function answerAll(): Promise<void> {
    isBusy = true;
    try {
      while (rest.length >= 2) {
        const length = rest.readUInt16BE();
        if (length > MAX_QUERY_BYTES) return end();
        if (rest.length < 2 + length) return;
        const answer = await answerQuery(rest.subarray(2, 2 + length), 'tcp', options);
        rest = rest.subarray(2 + length);
        if (!answer || socket.destroyed) return end();
        const head = Buffer.alloc(2);
        head.writeUInt16BE(answer.length);
        socket.write(Buffer.concat([head, answer]));
      }
    } catch (error) {
      options.log.warn('a question about a name failed', { error });
      end();
    } finally {
      isBusy = false;
    }
  }
}
