/** Requests of the page, passed on to the cluster with the rights of the user whose kubeconfig it is. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { tunnelUpgrade } from '../base/node/tunnel-upgrade.ts';
import type { Cluster } from '../client/node/kubeconfig.ts';
import { createTlsFetch, tlsOf, tokenHeader } from '../client/node/tls-fetch.ts';

const HANDSHAKE_TIMEOUT_MS = 30_000;
/** A page that does not read gets its watch ended, and lists again when it is back. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;
/** Of a request only what says something about it; who asks is said by the kubeconfig, never by the page. */
const PASSED_HEADERS = ['accept', 'content-type'];
/** Of an answer; nothing that makes a browser keep, run or frame it. */
const RETURNED_HEADERS = ['content-type', 'retry-after', 'warning'];
const HARMLESS = {
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};

export type PassOn = {
  request(request: Request, path: string): Promise<Response>;
  /** Sends what the cluster says about these objects, a message for each piece; the first message is the status. */
  watch(socket: WebSocket, path: string): Promise<void>;
  tunnel(upgrade: { readonly request: IncomingMessage; readonly socket: Duplex; readonly head: Buffer }, path: string): Promise<void>;
};

export type PassOnOptions = {
  readonly cluster: Cluster;
  /** Asked when the cluster cannot be reached: an embedded one may come back at another port, or with another certificate. */
  readonly reload: () => Promise<Cluster>;
};

export function createPassOn({ cluster, reload }: PassOnOptions): PassOn {
  let current = { cluster, fetch: createTlsFetch(cluster) };

  async function send(path: string, init: RequestInit): Promise<Response> {
    try {
      return await current.fetch(new Request(`${new URL(current.cluster.server).origin}${path}`, init));
    } catch (error) {
      if (!init.signal?.aborted) await lookAgain();
      throw error;
    }
  }

  async function lookAgain(): Promise<void> {
    const found = await reload().catch(() => current.cluster); // whoever asked hears what went wrong in any case
    if (JSON.stringify(found) !== JSON.stringify(current.cluster)) current = { cluster: found, fetch: createTlsFetch(found) };
  }

  return {
    async request(request, path) {
      const { method, body, signal } = request;
      const headers = pick(request.headers, PASSED_HEADERS);
      const init: RequestInit & { duplex?: 'half' } = { method, headers, signal, ...(body !== null && { body, duplex: 'half' }) };
      const response = await send(path, init);
      return new Response(response.body, {
        status: response.status,
        headers: { ...Object.fromEntries(pick(response.headers, RETURNED_HEADERS)), ...HARMLESS },
      });
    },

    async watch(socket, path) {
      const left = new AbortController();
      socket.once('close', () => left.abort());
      socket.on('error', () => left.abort());
      try {
        const response = await send(path, { headers: { accept: 'application/json' }, signal: left.signal });
        socket.send(String(response.status));
        const reader = response.body?.getReader();
        while (reader && !left.signal.aborted) {
          const { done, value } = await reader.read();
          if (done || socket.bufferedAmount > MAX_UNREAD_BYTES) break;
          socket.send(value);
        }
        await reader?.cancel();
      } catch (error) {
        if (!left.signal.aborted) throw error;
      } finally {
        socket.close();
      }
    },

    async tunnel({ request, socket, head }, path) {
      const protocols = request.headers['sec-websocket-protocol'];
      const { hostname, port } = new URL(current.cluster.server);
      await tunnelUpgrade({
        ...tlsOf(current.cluster),
        socket,
        head,
        host: hostname.replace(/^\[|\]$/g, ''),
        port: Number(port || 443),
        method: 'GET',
        path,
        protocol: 'websocket',
        headers: {
          ...tokenHeader(current.cluster),
          'sec-websocket-key': request.headers['sec-websocket-key'] ?? '',
          'sec-websocket-version': request.headers['sec-websocket-version'] ?? '13',
          ...(protocols && { 'sec-websocket-protocol': protocols }),
        },
        handshakeTimeoutMs: HANDSHAKE_TIMEOUT_MS,
      });
    },
  };
}

function pick(headers: Headers, names: readonly string[]): Headers {
  return new Headers(names.flatMap((name): [string, string][] => (headers.has(name) ? [[name, headers.get(name) ?? '']] : [])));
}
