/** Two-way streams to a cluster: consoles, screens, forwarded ports. */
import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import { type Clock, systemClock } from '../../base/clock.ts';
import { ApiError, isApiError, messageOf } from '../../base/errors.ts';
import { keepAlive } from '../../base/keep-alive.ts';
import { errorFrom } from '../client.ts';
import { urlAt } from '../url-at.ts';
import type { Cluster } from './kubeconfig.ts';
import { cannotReach, tlsOf, tokenHeader, traceOf, withIdentity } from './tls-fetch.ts';

export type WebSocketOptions = {
  readonly cluster: Cluster;
  /** From the root of the server, with the query. */
  readonly path: string;
  readonly protocols?: readonly string[];
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
};

/** Loaded when the first socket is opened; whoever gives up the right to read our files before that, loads it first. */
export const loadWebSockets = () => import('ws');

const HANDSHAKE_TIMEOUT_MS = 30_000;
const MAX_REFUSAL_BYTES = 64 * 1024;

/**
 * Resolves with an open socket. A refusal of the server becomes the ApiError it sent; aborting later closes the socket.
 * A server that is gone without a word is noticed by pings, and the socket closes.
 * Nothing that the server sends right away is lost: the socket is paused until it has a listener for messages.
 */
export async function openWebSocket(options: WebSocketOptions): Promise<WebSocket> {
  const { login } = options.cluster;
  options.signal?.throwIfAborted();
  if (login === undefined) return open(options);
  const identity = await login.identity();
  try {
    return await open({ ...options, cluster: { ...options.cluster, ...identity } });
  } catch (error) {
    if (!isApiError(error, 'Unauthorized')) throw error;
    login.refused(identity);
    return open({ ...options, cluster: await withIdentity(options.cluster) });
  }
}

async function open({ cluster, path, protocols = [], signal, clock = systemClock }: WebSocketOptions): Promise<WebSocket> {
  signal?.throwIfAborted();
  const { WebSocket } = await loadWebSockets();
  const url = urlAt(cluster.server, path);
  url.protocol = url.protocol === 'http:' ? 'ws:' : 'wss:';
  const socket = new WebSocket(url, [...protocols], {
    ...tlsOf(cluster),
    headers: tokenHeader(cluster),
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    perMessageDeflate: false,
  });
  const abort = () => socket.terminate();
  signal?.addEventListener('abort', abort, { once: true });
  socket.once('close', () => signal?.removeEventListener('abort', abort));
  const told = traceOf(cluster, { method: 'GET', url: url.href });
  try {
    await opened(socket, cluster);
    told?.('101 Switching Protocols');
  } catch (error) {
    told?.(messageOf(error));
    signal?.throwIfAborted();
    throw error;
  }
  socket.on('error', () => {}); // what went wrong shows in the code of the 'close' that follows
  void keepAlive(socket, clock);
  return socket;
}

function opened(socket: WebSocket, cluster: Cluster): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('open', () => {
      holdUntilHeard(socket); // here, because the first message may come before the promise is seen
      resolve();
    });
    socket.on('error', (error) => reject(cannotReach(cluster, error)));
    socket.once('unexpected-response', (request, response) => {
      refusalFrom(response)
        .then(reject, reject)
        .finally(() => request.destroy());
    });
  });
}

async function refusalFrom(response: IncomingMessage): Promise<ApiError> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_REFUSAL_BYTES) break;
    chunks.push(chunk);
  }
  const status = response.statusCode ?? 500;
  if (status < 200) return new ApiError('InternalError', `the server answered ${status}`);
  return errorFrom(new Response(Buffer.concat(chunks), { status }));
}

function holdUntilHeard(socket: WebSocket): void {
  socket.pause();
  socket.on('newListener', function heard(event: string | symbol) {
    if (event !== 'message') return;
    socket.off('newListener', heard);
    process.nextTick(() => {
      if (socket.isPaused) socket.resume();
    });
  });
}
