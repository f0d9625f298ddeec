/** Requests of the page, passed on to the cluster with the rights of the user whose kubeconfig it is, or with the token that somebody signed in with. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { UPLOAD_DIGEST_HEADER } from '../api/importer/upload.ts';
import { tunnelUpgrade } from '../base/node/tunnel-upgrade.ts';
import type { Cluster } from '../client/node/kubeconfig.ts';
import { createTlsFetch, tlsOf, tokenHeader, withIdentity } from '../client/node/tls-fetch.ts';
import { urlAt } from '../client/url-at.ts';
import { ANSWER_HEADERS } from './page-headers.ts';

const HANDSHAKE_TIMEOUT_MS = 30_000;
/** A page that does not read gets its watch ended, and lists again when it is back. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;
/** Of a request only what says something about it, a piece of a disk among that; who asks is said by the kubeconfig or by our door, never by the page. */
const PASSED_HEADERS = ['accept', 'content-type', 'content-length', 'content-range', UPLOAD_DIGEST_HEADER];
/** Of an answer; nothing that makes a browser keep, run or frame it. */
const RETURNED_HEADERS = ['content-type', 'retry-after', 'warning'];

export type PassOn = {
  /** The bare answer, for questions of our own. */
  ask(path: string, init: RequestInit, token?: string): Promise<Response>;
  request(request: Request, to: Target): Promise<Response>;
  /** Sends what the cluster says about these objects, a message for each piece; the first message is the status. */
  watch(socket: WebSocket, to: Target): Promise<void>;
  tunnel(upgrade: { readonly request: IncomingMessage; readonly socket: Duplex; readonly head: Buffer }, to: Target): Promise<void>;
};
/** What is asked for, and by whom; without a token it is the user of the kubeconfig. */
export type Target = { readonly path: string; readonly token: string | undefined };

export type PassOnOptions = {
  readonly cluster: Cluster;
  /** Asked when the cluster cannot be reached, or does not know us: an embedded one may come back at another port, and our certificate ends. */
  readonly reload: () => Promise<Cluster>;
};

export function createPassOn({ cluster, reload }: PassOnOptions): PassOn {
  let current = { cluster, fetch: createTlsFetch(cluster) };

  async function send(path: string, init: RequestInit, token: string | undefined): Promise<Response> {
    const headers = { ...Object.fromEntries(new Headers(init.headers)), ...bearer(token) };
    try {
      const response = await current.fetch(new Request(urlAt(current.cluster.server, path), { ...init, headers }));
      if (response.status === 401 && token === undefined) await lookAgain();
      return response;
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
    ask: send,

    async request(request, { path, token }) {
      const { method, body, signal } = request;
      const headers = pick(request.headers, PASSED_HEADERS);
      const init: RequestInit & { duplex?: 'half' } = { method, headers, signal, ...(body !== null && { body, duplex: 'half' }) };
      const response = await send(path, init, token);
      return new Response(response.body, {
        status: response.status,
        headers: { ...Object.fromEntries(pick(response.headers, RETURNED_HEADERS)), ...ANSWER_HEADERS },
      });
    },

    async watch(socket, { path, token }) {
      const left = new AbortController();
      socket.once('close', () => left.abort());
      socket.on('error', () => left.abort());
      try {
        const response = await send(path, { headers: { accept: 'application/json' }, signal: left.signal }, token);
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

    async tunnel({ request, socket, head }, { path, token }) {
      const protocols = request.headers['sec-websocket-protocol'];
      const { hostname, port, pathname, search } = urlAt(current.cluster.server, path);
      const who = await withIdentity(current.cluster);
      await tunnelUpgrade({
        ...tlsOf(who),
        socket,
        head,
        host: hostname.replace(/^\[|\]$/g, ''),
        port: Number(port || 443),
        method: 'GET',
        path: `${pathname}${search}`,
        protocol: 'websocket',
        headers: {
          ...tokenHeader(who),
          ...bearer(token),
          'sec-websocket-key': request.headers['sec-websocket-key'] ?? '',
          'sec-websocket-version': request.headers['sec-websocket-version'] ?? '13',
          ...(protocols && { 'sec-websocket-protocol': protocols }),
        },
        handshakeTimeoutMs: HANDSHAKE_TIMEOUT_MS,
      });
    },
  };
}

function bearer(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

function pick(headers: Headers, names: readonly string[]): Headers {
  return new Headers(names.flatMap((name): [string, string][] => (headers.has(name) ? [[name, headers.get(name) ?? '']] : [])));
}
