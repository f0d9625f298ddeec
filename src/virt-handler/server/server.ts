/**
 * The door of virt-handler: HTTPS for virt-api, known by its certificate, with the routes of api/handler/routes.ts. Whether a user may ask was
 * decided by the API server and virt-api before. Other virt-handlers are known by another certificate, with which they bring guests and do
 * nothing else; nobody else gets here. Failures are Status objects, as everywhere.
 */
import { WebSocketServer } from 'ws';
import { findRequest, findStream } from '../../api/handler/find-route.ts';
import { givenInBody, givenInQuery, responseOf } from '../../api/handler/message.ts';
import { UPGRADE_OF } from '../../api/handler/route.ts';
import { type HandlerRouteName, handlerRoute, readQuestion } from '../../api/handler/routes.ts';
import { STREAM_SUBPROTOCOL } from '../../api/kubevirt/subresources.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import { keepAlive } from '../../base/keep-alive.ts';
import type { Logger } from '../../base/log.ts';
import { MIGRATION_CLIENT_NAME } from '../../base/node/pki.ts';
import { type ServerTls, startWebServer, type Upgrade, type WebClient, type WebServer } from '../../base/node/web-server.ts';
import { readBytes } from '../../base/read-bytes.ts';
import type { HandlerAnswers } from './handler-answers.ts';
import type { BytesConnection, StreamConnection } from './stream-connection.ts';

export type Certificates = { readonly cert: string; readonly key: string; readonly ca: string };
export type HandlerServerOptions = {
  readonly certs: Certificates;
  /** Common names that a client certificate may have. */
  readonly allowedClients: readonly string[];
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly answers: HandlerAnswers;
};
export type HandlerServer = Pick<WebServer, 'port' | 'close'> & { renew(certs: Certificates): void };

const MAX_MESSAGE_BYTES = 1024 * 1024;
const HANDSHAKE_MS = 10_000;

/** Resolves when connections are accepted; listens until closed. */
export async function startHandlerServer({ certs, allowedClients, answers, ...common }: HandlerServerOptions): Promise<HandlerServer> {
  const webSockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    handleProtocols: (offered) => (offered.has(STREAM_SUBPROTOCOL) ? STREAM_SUBPROTOCOL : false),
  });
  const server = await startWebServer({
    ...common,
    ...tlsOf(certs),
    requiresCertificate: true,
    minVersion: 'TLSv1.3',
    headersTimeoutMs: HANDSHAKE_MS,
    admit: (client) => requireClient(client, [...allowedClients, MIGRATION_CLIENT_NAME]),
    handle: (request, client) => {
      requireClient(client, allowedClients);
      return answer(request, answers);
    },
    upgrade: async (upgrade, client) => {
      const found = findStreamOf(upgrade);
      requireClient(client, handlerRoute(found.name).client === 'migration' ? [MIGRATION_CLIENT_NAME] : allowedClients);
      const connection = await openStream(found, answers);
      // what the function of a route connected is for its kind of stream
      if (handlerRoute(found.name).stream === 'bytes') carryBytes(connection as BytesConnection, upgrade);
      else carry(connection as StreamConnection, upgrade, { webSockets, clock: common.clock });
    },
  });
  return { port: server.port, close: () => server.close(), renew: (next) => server.renew(tlsOf(next)) };
}

function tlsOf({ ca, cert, key }: Certificates): ServerTls {
  return { serving: { cert, key }, clientCa: ca };
}

/** The certificate is good at this moment, or there is no peer: a connection may outlive the one that it was made with. */
function requireClient({ peer }: WebClient, allowedClients: readonly string[]): void {
  if (!peer || !allowedClients.includes(peer.commonName))
    throw new ApiError('Forbidden', `this virt-handler does not serve the client ${JSON.stringify(peer?.commonName ?? '')}`);
}

/** A function of the record, to which parameters and question are as good as to any other. */
type AnyAnswer = (asked: { readonly parameters: object; readonly question: object }) => Promise<unknown>;

async function answer(request: Request, answers: HandlerAnswers): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  const found = findRequest(request.method, pathname);
  if (!found) throw nothingAt(`${request.method} ${pathname}`);
  const given =
    request.method === 'GET'
      ? givenInQuery(searchParams)
      : givenInBody(new TextDecoder().decode(await readBytes(request.body, MAX_MESSAGE_BYTES, 'the question')));
  const { name, parameters } = found;
  const said = await functionFor(answers, name)({ parameters, question: readQuestion(name, given) });
  return responseOf(handlerRoute(name).answer, said);
}

function findStreamOf({ request }: Upgrade) {
  const url = URL.parse(`https://virt-handler${request.url}`);
  const found = url ? findStream(url.pathname) : undefined;
  const upgrade = request.headers.upgrade?.toLowerCase();
  if (!url || !found || upgrade !== UPGRADE_OF[handlerRoute(found.name).stream]) throw nothingAt(`${upgrade} ${url?.pathname}`);
  return { ...found, given: givenInQuery(url.searchParams) };
}

function openStream({ name, parameters, given }: ReturnType<typeof findStreamOf>, answers: HandlerAnswers): Promise<unknown> {
  return functionFor(answers, name)({ parameters, question: readQuestion(name, given) });
}

function functionFor(answers: HandlerAnswers, name: HandlerRouteName): AnyAnswer {
  return answers[name] as AnyAnswer; // what it is called with was read by the route of the same name
}

function nothingAt(what: string): ApiError {
  return new ApiError('NotFound', `there is nothing at ${what.slice(0, 512)}`);
}

function carry(
  connection: StreamConnection,
  { request, socket, head }: Upgrade,
  { webSockets, clock }: { readonly webSockets: WebSocketServer; readonly clock: Clock },
): void {
  let isCarried = false;
  webSockets.handleUpgrade(request, socket, head, (webSocket) => {
    isCarried = true;
    void keepAlive(webSocket, clock);
    connection.carry(webSocket);
  });
  // A handshake that is wrong was refused, and of a client that is gone nothing was heard: either way nobody is there for the guest.
  if (!isCarried) connection.abandon();
}

/** A client that is gone by now is noticed by whoever carries. */
function carryBytes(connection: BytesConnection, { socket, head }: Upgrade): void {
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${UPGRADE_OF.bytes}\r\n\r\n`);
  if (head.length > 0) socket.unshift(head);
  if (socket.destroyed) connection.abandon();
  else connection.carry(socket);
}
