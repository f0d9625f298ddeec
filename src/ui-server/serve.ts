/** The server of the web page, behind whichever door: the page itself, and the API behind it with the rights of whoever is inside. */
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { HOST_CHECKS_PATH, type HostCheck } from '../api/page/host-checks.ts';
import { ApiError, messageOf, UserError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { KeyPair } from '../base/node/pki-files.ts';
import { refuseUpgrade } from '../base/node/raw-response.ts';
import { bridge } from '../base/node/web-bridge.ts';
import { statusResponse } from '../base/status-object.ts';
import { loadWebSockets } from '../client/node/websocket.ts';
import { decideRequest, SESSION_PATH, textOf, type UiDecision } from './decide-request.ts';
import type { Door } from './door.ts';
import { type PageFiles, pageFileAt } from './page-files.ts';
import { failureResponse, PAGE_HEADERS, refusalResponse } from './page-headers.ts';
import type { PassOn, Target } from './pass-on.ts';
import { refusalForPeople } from './small-page.ts';

/** What the page is told about where it is. */
export type PageAbout = {
  readonly server: string;
  readonly context: string;
  readonly namespace: string;
  readonly version: string;
  /** What is found on the machine of the cluster can be asked for. */
  readonly hasHostChecks?: boolean;
};

export type LookAtHost = () => Promise<readonly HostCheck[]>;

export type ServeOptions = {
  readonly passOn: PassOn;
  readonly about: Omit<PageAbout, 'hasHostChecks'>;
  /** Looks at the machine of the cluster; only where that is this one. */
  readonly lookAtHost?: LookAtHost | undefined;
  /** Asked for with each file. */
  readonly files: () => PageFiles;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Plain HTTP without one. */
  readonly certificate?: KeyPair | undefined;
  /** Made when the port is known. */
  readonly door: (port: number) => Door;
  readonly log: Logger;
};

export type PageServer = {
  readonly port: number;
  /** Takes up a certificate that was made anew. */
  renew(certificate: KeyPair): void;
  close(): Promise<void>;
};

const MAX_WATCH_QUESTION_BYTES = 1024;

/** Starts to listen; resolves when browsers can come. */
export async function servePage(options: ServeOptions): Promise<PageServer> {
  const { passOn, files, certificate, log } = options;
  const about: PageAbout = { ...options.about, ...(options.lookAtHost && { hasHostChecks: true }) };
  const hostChecks = options.lookAtHost && oneAtATime(options.lookAtHost);
  const closing = new AbortController();
  const open = new Set<Duplex>();
  const tls = certificate && createTlsServer({ ...certificate, minVersion: 'TLSv1.2' });
  const server = tls ?? createServer();
  const { WebSocketServer } = await loadWebSockets();
  const watches = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: MAX_WATCH_QUESTION_BYTES });
  const port = await listen(server, options);
  const door = options.door(port);
  const decide = ({ method = 'GET', url = '/', headers }: IncomingMessage, isUpgrade: boolean) =>
    decideRequest({ method, url, headers, isUpgrade }, door);

  async function answer(incoming: IncomingMessage, request: Request): Promise<Response> {
    const decision = decide(incoming, false);
    const token = door.tokenOf(incoming.headers);
    if (decision.kind === 'page' && decision.path === SESSION_PATH) return aboutAnswer(token, incoming);
    if (decision.kind === 'page' && decision.path === HOST_CHECKS_PATH && hostChecks)
      return Response.json({ checks: await hostChecks() }, { headers: { ...PAGE_HEADERS, 'cache-control': 'no-store' } });
    if (decision.kind === 'page') return pageAnswer(files(), decision.path, request.headers.get('if-none-match'));
    if (decision.kind === 'api') return noticed(await passOn.request(request, { path: decision.path, token }), token);
    if (decision.kind === 'refuse' || decision.kind === 'watch' || decision.kind === 'tunnel') return refusal(decision);
    return door.answer(decision, request);
  }

  async function aboutAnswer(token: string | undefined, incoming: IncomingMessage): Promise<Response> {
    const found = await door.userOf(token);
    if ('status' in found) return notToldResponse(found.status, token);
    const { user } = found;
    const canSignOut = token !== undefined && incoming.headers.authorization === undefined;
    return Response.json({ ...about, ...(user !== undefined && { user, canSignOut }) }, { headers: PAGE_HEADERS });
  }

  /** Only 401 is about the token: a cluster that is busy or down knows it again later. */
  function notToldResponse(status: number, token: string | undefined): Response {
    if (status !== 401) return refusalResponse(502, `the cluster does not say whose token this is: it answers ${status}`);
    if (token !== undefined) door.refused(token);
    return refusalResponse(401, 'the cluster does not know this token, or it has expired');
  }

  function noticed(response: Response, token: string | undefined): Response {
    if (response.status === 401 && token !== undefined) door.refused(token);
    return response;
  }

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const decision = decide(request, true);
    if (decision.kind !== 'tunnel' && decision.kind !== 'watch') return refuseUpgrade(socket, refusal(decision));
    const to: Target = { path: decision.path, token: door.tokenOf(request.headers) };
    if (decision.kind === 'tunnel') return passOn.tunnel({ request, socket, head }, to);
    watches.handleUpgrade(request, socket, head, (web) => {
      passOn.watch(web, to).catch((error) => log.debug('watch failed', { error }));
    });
  }

  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.on('request', (incoming, outgoing) => {
    const shown = async (request: Request) =>
      refusalForPeople(await answer(incoming, request).catch(failureResponse), textOf(incoming.headers['sec-fetch-dest']));
    void bridge({ incoming, outgoing, signal: closing.signal, answer: shown }).catch((error) => log.debug('request failed', { error }));
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', (error) => log.debug('connection broke', { error }));
    void upgrade(request, socket, head).catch((error) => {
      log.debug('upgrade failed', { error });
      void refuseUpgrade(socket, statusResponse(error));
    });
  });

  return {
    port,
    renew: (fresh) => tls?.setSecureContext({ ...fresh, minVersion: 'TLSv1.2' }),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      closing.abort();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

/** Programs are started for a look: those who ask at the same time share one. */
function oneAtATime(look: LookAtHost): LookAtHost {
  let looking: Promise<readonly HostCheck[]> | undefined;
  return () => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  };
}

function pageAnswer(files: PageFiles, path: string, known: string | null): Response {
  const file = pageFileAt(files, path);
  if (!file) return refusalResponse(404, `there is no ${path}`);
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
  return decision.kind === 'refuse' ? refusalResponse(decision.status, decision.message) : refusalResponse(400, 'not in this way');
}

function listen(server: ReturnType<typeof createServer>, { host, port }: ServeOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      reject(
        new UserError('PORT_BUSY', `Cannot listen on ${host}:${port}`, {
          why: messageOf(error),
          fix: 'choose another port with --port, or leave it out',
          cause: error,
        }),
      );
    });
    server.listen({ host, port }, () => {
      const address = server.address();
      if (typeof address === 'object' && address) resolve(address.port);
      else reject(new ApiError('InternalError', 'the server has no port'));
    });
  });
}
