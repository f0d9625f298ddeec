/**
 * An HTTPS server (HTTP/2 and HTTP/1.1 on one port) for web handlers. Client certificates are asked for: handlers are told who was verified
 * and decide themselves, unless only clients with one are to get here at all.
 */
import type { IncomingMessage } from 'node:http';
import { createSecureServer, type Http2SecureServer, type SecureServerOptions } from 'node:http2';
import { createServer as createPlainServer, type Server } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureContextOptions, TLSSocket } from 'node:tls';
import { type Clock, systemClock } from '../clock.ts';
import { ApiError, UserError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { statusResponse } from '../status-object.ts';
import type { KeyPair } from './pki-files.ts';
import { refuseUpgrade } from './raw-response.ts';
import { EXPIRED, type Peer, refusedCertificate, verifiedPeer } from './verified-peer.ts';
import { bridge, type NodeRequest, type NodeResponse } from './web-bridge.ts';

/** Who was verified; `refused` is why a certificate that was shown was not. */
export type WebClient = {
  readonly peer: Peer | undefined;
  readonly refused: string | undefined;
  /** The headers of the request as they came, names and values in turn. */
  readonly rawHeaders: readonly string[];
};
export type WebHandler = (request: Request, client: WebClient) => Promise<Response>;
/** Takes over the socket, or throws; an error becomes the refusal of the handshake. */
export type WebUpgradeHandler = (upgrade: Upgrade, client: WebClient) => Promise<void>;
export type Upgrade = { readonly request: IncomingMessage; readonly socket: Duplex; readonly head: Buffer };

export type WebServerOptions = {
  readonly serving: KeyPair;
  /** PEM: who may vouch for clients. */
  readonly clientCa: string;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** A descriptor that listens: who connects there is served as well. */
  readonly listener?: number;
  /** How many higher ports to try when this one is taken. */
  readonly morePorts?: number;
  /** Without a certificate of `clientCa` a client does not get past TLS. */
  readonly requiresCertificate?: boolean;
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3' | undefined;
  /** As OpenSSL takes them; its own choice when not given. */
  readonly ciphers?: string | undefined;
  /** Throws to turn a client away, before anything of its request is looked at. */
  readonly admit?: (client: WebClient) => void;
  readonly handle: WebHandler;
  readonly upgrade?: WebUpgradeHandler;
  /** How long the headers of a request may take. */
  readonly headersTimeoutMs?: number;
  readonly clock?: Clock;
  readonly log: Logger;
};

/** What a server shows, and whose clients it knows. */
export type ServerTls = Pick<WebServerOptions, 'serving' | 'clientCa' | 'minVersion' | 'ciphers'>;
export type WebServer = {
  readonly port: number;
  /** Takes other certificates and limits for connections made from now on; what is not given stays, and so do connections that stand. */
  renew(tls: Partial<ServerTls>): void;
  close(): Promise<void>;
};

/** Go clients keep idle connections for 90 s: closing earlier would race with their next request. */
const KEEP_ALIVE_MS = 120_000;
const HEADERS_TIMEOUT_MS = 30_000;
const MIN_VERSION = 'TLSv1.2';
const MAX_STREAMS = 1000;
const MAX_SESSION_MEGABYTES = 64;
/** How long requests may take to notice that the server closes. */
const CLOSE_GRACE_MS = 2000;
/** And how long their last bytes may take to leave. */
const DRAIN_MS = 200;

/** Starts to listen; resolves when connections are accepted. */
export async function startWebServer(options: WebServerOptions): Promise<WebServer> {
  const { admit, handle, upgrade, log, clock = systemClock } = options;
  let tls: ServerTls = options;
  const closing = new AbortController();
  const sockets = new Set<Duplex>();
  const secured = new Set<TLSSocket>();
  const active = new Set<Promise<void>>();
  const clients: KnownClients = new WeakMap();
  const server = createServer(options);

  const track = (work: Promise<void>) => {
    const entry: Promise<void> = work.catch((error) => log.error('request failed', { error })).finally(() => active.delete(entry));
    active.add(entry);
  };
  const report = (error: unknown): never => {
    if (!(error instanceof ApiError)) log.error('request failed', { error });
    throw error;
  };
  server.on('connection', (socket: Duplex) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    secured.add(socket);
    socket.once('close', () => secured.delete(socket));
  });
  server.on('request', (incoming: NodeRequest, outgoing: NodeResponse) => {
    const client = { ...clientOf(incoming, clients, clock.now()), rawHeaders: incoming.rawHeaders };
    const answer = async (request: Request) => {
      admit?.(client);
      return handle(request, client);
    };
    track(bridge({ incoming, outgoing, signal: closing.signal, answer: (request) => answer(request).catch(report) }));
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', (error) => log.debug('connection broke after an upgrade', { error }));
    if (upgrade) void startUpgrade({ admit, upgrade }, { request, socket, head }, clock.now());
    else void refuseUpgrade(socket, statusResponse(new Error('this server does not upgrade connections')));
  });

  const port = await listenNear(server, options);
  const beside = options.listener === undefined ? undefined : await listenBeside(server, options.listener);
  return {
    port,
    renew(changed) {
      tls = { ...tls, ...changed };
      server.setSecureContext(secureContextOf(tls));
    },
    async close() {
      if (closing.signal.aborted) return;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      beside?.close();
      closing.abort();
      await within(CLOSE_GRACE_MS, Promise.all(active), clock);
      await within(DRAIN_MS, Promise.all([...secured].map(drained)), clock);
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function secureContextOf({ serving, clientCa, minVersion = MIN_VERSION, ciphers }: ServerTls): SecureContextOptions {
  return { ...serving, ca: clientCa, minVersion, ...(ciphers && { ciphers }) };
}

function createServer(options: WebServerOptions): Http2SecureServer {
  const { requiresCertificate = false, headersTimeoutMs = HEADERS_TIMEOUT_MS } = options;
  const server = createSecureServer({
    ...secureContextOf(options),
    allowHTTP1: true,
    requestCert: true,
    rejectUnauthorized: requiresCertificate,
    maxSessionMemory: MAX_SESSION_MEGABYTES,
    settings: { maxConcurrentStreams: MAX_STREAMS },
    // A small answer would wait up to 40 ms for word of the one before it; HTTP/2 sees to that itself, HTTP/1.1 and what follows an upgrade do not.
    noDelay: true,
    handshakeTimeout: headersTimeoutMs,
    connectionsCheckingInterval: headersTimeoutMs / 2,
  } as SecureServerOptions);
  // Watches and consoles last for hours: only the headers of a request have a deadline.
  return Object.assign(server, { requestTimeout: 0, timeout: 0, headersTimeout: headersTimeoutMs, keepAliveTimeout: KEEP_ALIVE_MS });
}

/** Resolves when it is done, or not any longer waited for. */
async function within(ms: number, work: Promise<unknown>, clock: Clock): Promise<void> {
  const patience = new AbortController();
  await Promise.race([work, clock.sleep(ms, patience.signal)]);
  patience.abort();
}

/** Resolves when what was written has left: an answer that is whole here may still be on its way through TLS. HTTP/2 does that by itself. */
function drained(socket: TLSSocket): Promise<void> {
  if (socket.alpnProtocol === 'h2' || socket.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    socket.once('close', () => resolve());
    socket.destroySoon();
  });
}

/** By connection: reading a certificate costs as much as answering a small request. */
type KnownClients = WeakMap<object, TlsClient>;
type TlsClient = Omit<WebClient, 'rawHeaders'>;

/** A certificate that was good when the connection was made may have expired since. */
function clientOf(incoming: NodeRequest, known: KnownClients, now: number): TlsClient {
  // of HTTP/2 requests `socket` is a stand-in that answers the same questions
  const connection = 'stream' in incoming ? (incoming.stream.session ?? incoming.stream) : incoming.socket;
  const client = known.get(connection) ?? clientAt(incoming.socket as TLSSocket);
  known.set(connection, client);
  return inTime(client, now);
}

function clientAt(socket: TLSSocket): TlsClient {
  return { peer: verifiedPeer(socket), refused: refusedCertificate(socket) };
}

function inTime(client: TlsClient, now: number): TlsClient {
  return client.peer && client.peer.validUntilMs < now ? { peer: undefined, refused: EXPIRED } : client;
}

async function startUpgrade(
  { admit, upgrade }: { readonly admit: WebServerOptions['admit']; readonly upgrade: WebUpgradeHandler },
  { request, socket, head }: Upgrade,
  now: number,
): Promise<void> {
  try {
    const client = { ...inTime(clientAt(request.socket as TLSSocket), now), rawHeaders: request.rawHeaders };
    admit?.(client);
    await upgrade({ request, socket, head }, client);
  } catch (error) {
    await refuseUpgrade(socket, statusResponse(error));
  }
}

async function listenNear(server: Http2SecureServer, { host, port, morePorts = 0, log }: WebServerOptions): Promise<number> {
  for (let candidate = port; ; candidate++) {
    try {
      return await listenOn(server, host, candidate);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code !== 'EADDRINUSE') throw error;
      if (candidate >= port + morePorts || candidate >= 65535) {
        throw new UserError('PORT_BUSY', `Cannot listen on ${host}:${port}`, {
          why: morePorts > 0 ? `ports ${port} to ${candidate} are all in use` : 'the port is in use',
          fix: 'stop the program that uses it, or choose another port',
          cause: error,
        });
      }
      log.warn('port is in use, trying the next one', { host, port: candidate });
    }
  }
}

function listenBeside(server: Http2SecureServer, fd: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const beside = createPlainServer({ noDelay: true }, (socket) => server.emit('connection', socket));
    beside.once('error', reject);
    beside.listen({ fd }, () => resolve(beside.off('error', reject)));
  });
}

function listenOn(server: Http2SecureServer, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : port);
    });
  });
}
