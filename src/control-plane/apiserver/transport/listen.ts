/** The TLS front of the API server: who is asking is settled here, everything behind it gets a web Request and an Identity. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Clock, systemClock } from '../../../base/clock.ts';
import { ApiError } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import type { KeyPair } from '../../../base/node/pki.ts';
import { hostOf, webHeaders } from '../../../base/node/web-bridge.ts';
import { startWebServer, type Upgrade, type WebServer } from '../../../base/node/web-server.ts';
import { allowedHosts } from './allowed-hosts.ts';
import { authenticate, isIdentityHeader, type ReviewToken, withoutToken } from './authenticate.ts';
import type { Identity } from './identity.ts';

export type Handle = (request: Request, identity: Identity) => Promise<Response>;
/** Takes the socket over, or throws: an error is told to the client as the refusal of its handshake. */
export type HandleUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer, identity: Identity) => Promise<void> | void;

export type ListenOptions = {
  readonly handle: Handle;
  readonly upgrade: HandleUpgrade;
  /** The authority that vouches for clients, and our own certificate. */
  readonly pki: { readonly ca: string; readonly apiServer: KeyPair };
  readonly host?: string;
  /** When it is taken, the next ones are tried; 0 takes any. */
  readonly port: number;
  /** A descriptor that listens: who connects there is served as well. */
  readonly listener?: number;
  readonly reviewToken?: ReviewToken;
  readonly headersTimeoutMs?: number;
  readonly clock?: Clock;
  readonly log: Logger;
};

const MORE_PORTS = 20;

/** Serves the API over TLS; the answer says on which port. */
export function listen(options: ListenOptions): Promise<WebServer> {
  const { handle, upgrade, pki, host = '127.0.0.1', port, reviewToken, headersTimeoutMs, clock = systemClock, log } = options;
  const hosts = allowedHosts(pki.apiServer.cert);
  return startWebServer({
    serving: pki.apiServer,
    clientCa: pki.ca,
    host,
    port,
    ...(options.listener !== undefined && { listener: options.listener }),
    morePorts: port === 0 ? 0 : MORE_PORTS,
    headersTimeoutMs,
    clock,
    log,
    async handle(request, client) {
      hosts.check(new URL(request.url).host);
      const identity = await authenticate({ ...client, headers: request.headers, reviewToken, clock, signal: request.signal });
      return handle(withoutClaims(request), identity);
    },
    async upgrade({ request, socket, head }, client) {
      const headers = webHeaders(request.rawHeaders);
      hosts.check(hostOf(request));
      hosts.checkOrigin(headers.get('origin'));
      const identity = await authenticate({ ...client, headers, reviewToken, clock, signal: closeSignal(socket) });
      await upgrade(cleaned(request), socket, head, identity);
    },
  });
}

function withoutClaims(request: Request): Request {
  for (const name of [...request.headers.keys()]) if (isIdentityHeader(name)) request.headers.delete(name);
  return request;
}

/**
 * The same message without claims and tokens. The path is normalised as it is in a web Request: whoever decides by the parsed path
 * and whoever passes on the written one must mean the same thing.
 */
function cleaned(request: IncomingMessage): IncomingMessage {
  if (!request.url?.startsWith('/')) throw new ApiError('BadRequest', `the request target ${request.url} is not a path`);
  const { pathname, search } = new URL(`https://${hostOf(request)}${request.url}`);
  request.url = `${pathname}${search}`;
  for (const name of Object.keys(request.headers)) if (isIdentityHeader(name)) delete request.headers[name];
  const subprotocols = withoutToken(request.headers['sec-websocket-protocol'] ?? '');
  if (subprotocols) request.headers['sec-websocket-protocol'] = subprotocols;
  else delete request.headers['sec-websocket-protocol'];
  delete request.headers.authorization;
  request.rawHeaders = Object.entries(request.headers).flatMap(([name, value]) => [value ?? ''].flat().flatMap((each) => [name, each]));
  return request;
}

function closeSignal(socket: Upgrade['socket']): AbortSignal {
  const gone = new AbortController();
  socket.once('close', () => gone.abort());
  return gone.signal;
}
