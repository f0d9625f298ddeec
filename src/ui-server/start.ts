/** The server of the web page, on loopback: the page itself, and the API behind it with the rights of one kubeconfig. */
import { createServer, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '../base/clock.ts';
import { ApiError, messageOf, UserError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { refuseUpgrade } from '../base/node/raw-response.ts';
import { bridge } from '../base/node/web-bridge.ts';
import { statusResponse } from '../base/status-object.ts';
import type { Cluster } from '../client/node/kubeconfig.ts';
import { loadWebSockets } from '../client/node/websocket.ts';
import { cookieName, decideRequest, type UiDecision } from './decide-request.ts';
import { type PageFiles, pageFileAt } from './page-files.ts';
import { createPassOn } from './pass-on.ts';
import { createSessions, linkTo, type SessionKeys } from './sessions.ts';

export type UiServerOptions = {
  readonly cluster: Cluster;
  /** Where the cluster is now; asked when it is not where it was. */
  readonly reload: () => Promise<Cluster>;
  readonly version: string;
  /** Where new machines go, and all that is shown to who may not see everything. */
  readonly namespace: string;
  /** Asked for with each file. */
  readonly files: () => PageFiles;
  /** 0 takes any free port. */
  readonly port: number;
  readonly keys: SessionKeys;
  readonly clock: Clock;
  readonly log: Logger;
};

export type UiServer = {
  readonly port: number;
  /** An address that lets one browser in. */
  link(): string;
  close(): Promise<void>;
};

/** Styles may be set by scripts (the terminal does), code comes from our files alone. */
const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};
const MAX_WATCH_QUESTION_BYTES = 1024;

/** Starts to listen; resolves when browsers can come. */
export async function startUiServer(options: UiServerOptions): Promise<UiServer> {
  const { cluster, reload, version, namespace, files, port, keys, clock, log } = options;
  const about = { server: cluster.server, context: cluster.context, namespace, version };
  const sessions = createSessions(keys, clock);
  const passOn = createPassOn({ cluster, reload });
  const closing = new AbortController();
  const open = new Set<Duplex>();
  const server = createServer();
  const { WebSocketServer } = await loadWebSockets();
  const watches = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: MAX_WATCH_QUESTION_BYTES });
  let ownPort = port;
  const decide = ({ method = 'GET', url = '/', headers }: IncomingMessage, isUpgrade: boolean) =>
    decideRequest({ method, url, headers, isUpgrade }, { port: ownPort, isSession: sessions.has });

  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.on('request', (incoming, outgoing) => {
    const answer = async (request: Request): Promise<Response> => {
      const decision = decide(incoming, false);
      if (decision.kind === 'enter') return entered(sessions.enter(decision.token), ownPort);
      if (decision.kind === 'page' && decision.path === '/session.json') return Response.json(about, { headers: PAGE_HEADERS });
      if (decision.kind === 'page') return pageAnswer(files(), decision.path, request.headers.get('if-none-match'));
      if (decision.kind === 'api') return passOn.request(request, decision.path);
      return refusal(decision);
    };
    void bridge({ incoming, outgoing, signal: closing.signal, answer }).catch((error) => log.debug('request failed', { error }));
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', (error) => log.debug('connection broke', { error }));
    void upgrade(request, socket, head).catch((error) => {
      log.debug('upgrade failed', { error });
      void refuseUpgrade(socket, statusResponse(error));
    });
  });

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const decision = decide(request, true);
    if (decision.kind === 'tunnel') return passOn.tunnel({ request, socket, head }, decision.path);
    if (decision.kind !== 'watch') return refuseUpgrade(socket, refusal(decision));
    watches.handleUpgrade(request, socket, head, (web) => {
      passOn.watch(web, decision.path).catch((error) => log.debug('watch failed', { error }));
    });
  }

  ownPort = await listen(server, port);
  return {
    port: ownPort,
    link: () => linkTo(ownPort, keys.link, clock),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      closing.abort();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

function entered(session: string | undefined, port: number): Response {
  if (session === undefined)
    return refusal({ kind: 'refuse', status: 403, message: 'this link was used, or is too old: virtctl ui and virtctl up make another' });
  const cookie = `${cookieName(port)}=${session}; HttpOnly; SameSite=Strict; Path=/`;
  return new Response(null, {
    status: 303,
    headers: { location: '/', 'set-cookie': cookie, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
  });
}

function pageAnswer(files: PageFiles, path: string, known: string | null): Response {
  const file = pageFileAt(files, path);
  if (!file) return refusal({ kind: 'refuse', status: 404, message: `there is no ${path}` });
  const headers = {
    ...PAGE_HEADERS,
    etag: file.etag,
    'content-type': file.type,
    'cache-control': file.isHashed ? 'private, max-age=31536000, immutable' : 'no-cache',
  };
  if (known === file.etag) return new Response(null, { status: 304, headers });
  return new Response(file.gzipped, { headers: { ...headers, 'content-encoding': 'gzip' } });
}

function refusal(decision: UiDecision): Response {
  const { status, message } = decision.kind === 'refuse' ? decision : { status: 400, message: 'not in this way' };
  const headers = { ...PAGE_HEADERS, 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' };
  return new Response(`${message}\n`, { status, headers });
}

function listen(server: ReturnType<typeof createServer>, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      reject(
        new UserError('PORT_BUSY', `Cannot listen on 127.0.0.1:${port}`, {
          why: messageOf(error),
          fix: 'choose another port with --port, or leave it out',
          cause: error,
        }),
      );
    });
    server.listen({ host: '127.0.0.1', port }, () => {
      const address = server.address();
      if (typeof address === 'object' && address) resolve(address.port);
      else reject(new ApiError('InternalError', 'the server has no port'));
    });
  });
}
