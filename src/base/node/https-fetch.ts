/** `fetch` over node:https, for what the built-in one cannot do: client certificates, an own authority, a name to verify that is not the address. */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { bodyStream, drained, isHopByHop, webHeaders } from './web-bridge.ts';

export type TlsIdentity = {
  /** PEM: who may vouch for the server; the system's authorities when not given. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** The name the server must prove to have, when it is not that of the URL. */
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
};

export type HttpsFetchOptions = TlsIdentity & {
  readonly agent: Agent;
  /** Where to connect, when it is not what the URL says. */
  readonly connectTo?: { readonly host: string; readonly port: number };
  /** Replaces the headers of the request; a list is sent as repeated headers. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
};

const CONNECT_TIMEOUT_MS = 10_000;
const WITHOUT_BODY = [101, 103, 204, 205, 304];

/** Connections that are used again; one per server and identity. */
export function keepAliveAgent(): Agent {
  return new Agent({ keepAlive: true });
}

/** Sends a web Request and resolves with the head of the answer; rejects with the signal's reason when it aborts. */
export async function httpsFetch(request: Request, options: HttpsFetchOptions): Promise<Response> {
  const { signal } = request;
  signal.throwIfAborted();
  try {
    return await exchange(request, options);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    // The server may close an idle connection just when we use it again; asking once more is safe for a question.
    if (error instanceof StaleConnection && request.method === 'GET') return exchange(request, { ...options, agent: keepAliveAgent() });
    throw error instanceof StaleConnection ? error.cause : error;
  }
}

class StaleConnection extends Error {}

function exchange(request: Request, options: HttpsFetchOptions): Promise<Response> {
  const { agent, connectTo, headers = Object.fromEntries(request.headers), ...tls } = options;
  const url = new URL(request.url);
  const port = connectTo?.port ?? (url.port === '' ? 443 : Number(url.port));
  const host = connectTo?.host ?? url.hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest({
      ...tls,
      agent,
      host,
      port,
      method: request.method,
      path: `${url.pathname}${url.search}`,
      headers: sendable({ host: url.host, ...headers }),
      signal: request.signal,
    });
    // For DELETE and the like node assumes that there is no body and would send one without saying where it ends.
    outgoing.useChunkedEncodingByDefault = request.body !== null;
    limitConnecting(outgoing);
    outgoing.on('response', (incoming) => resolve(webResponse(incoming)));
    outgoing.on('error', (error) => reject(outgoing.reusedSocket ? new StaleConnection('stale', { cause: error }) : error));
    sendBody(request.body, outgoing).catch((error) => outgoing.destroy(error));
  });
}

/** Only the way to an established connection has a deadline; answers may take as long as they like. */
function limitConnecting(outgoing: ClientRequest, timeoutMs = CONNECT_TIMEOUT_MS): void {
  outgoing.on('socket', (socket) => {
    if (!socket.connecting) return;
    const giveUp = () => outgoing.destroy(Object.assign(new Error(`no connection within ${timeoutMs / 1000} s`), { code: 'ETIMEDOUT' }));
    socket.setTimeout(timeoutMs, giveUp);
    socket.once('secureConnect', () => {
      socket.setTimeout(0);
      socket.off('timeout', giveUp);
    });
  });
}

function sendable(headers: Readonly<Record<string, string | readonly string[]>>): Record<string, string | string[]> {
  const kept = Object.entries(headers).filter(([name]) => !isHopByHop(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]));
}

async function sendBody(body: ReadableStream<Uint8Array> | null, outgoing: ClientRequest): Promise<void> {
  for await (const chunk of body ?? []) {
    if (outgoing.destroyed) return;
    if (!outgoing.write(chunk)) await drained(outgoing);
  }
  outgoing.end();
}

function webResponse(incoming: IncomingMessage): Response {
  const status = incoming.statusCode ?? 502;
  const headers = webHeaders(incoming.rawHeaders);
  if (WITHOUT_BODY.includes(status)) {
    incoming.resume();
    return new Response(null, { status, headers });
  }
  return new Response(
    bodyStream(incoming, () => incoming.destroy()),
    { status, headers },
  );
}
