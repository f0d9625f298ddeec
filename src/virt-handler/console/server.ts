/**
 * Where virt-api reaches the consoles of this node's guests: a WebSocket over TLS for one client, known by its certificate.
 * Whether a user may look was decided by the API server before; nobody else gets here.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type ServerOptions } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError, messageOf, STATUS_CODES, type StatusReason } from '../../base/errors.ts';
import { keepAlive } from '../../base/keep-alive.ts';
import type { Logger } from '../../base/log.ts';
import { verifiedPeer } from '../../base/node/verified-peer.ts';
import { answerFor, type GuestQuestion, readQuestion } from '../agent/answer.ts';
import type { GuestPort } from '../network/decide-forwards.ts';
import type { PortConnection } from '../network/serve-port.ts';
import { type GuestAction, isGuestAction } from '../vmi/guest-action.ts';
import type { Usage } from '../vmi/usage.ts';
import type { EndedRun } from './run-logs.ts';
import type { ScreenWish } from './screen.ts';
import type { SerialConsole, Viewer } from './serial-console.ts';

export type Certificates = { readonly cert: string; readonly key: string; readonly ca: string };
export type ConsoleServerOptions = {
  readonly certs: Certificates;
  /** Common names that a client certificate may have. */
  readonly allowedClients: readonly string[];
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** The console of `namespace/name`, when that guest is on this node. */
  readonly consoleOf: (key: string) => SerialConsole | undefined;
  /** Makes that guest's QEMU obey; throws when it does not. */
  readonly act?: (key: string, action: GuestAction) => Promise<void>;
  /** Answers what is asked of the agent in that guest; throws when it does not. */
  readonly askAgent?: (key: string, question: GuestQuestion) => Promise<object | undefined>;
  /** Connects with a port of that guest; throws when it cannot be reached. */
  readonly connectTo?: (key: string, port: GuestPort) => Promise<PortConnection>;
  /** Connects with the screen of that guest; throws when it has none. */
  readonly connectScreen?: (key: string, wish: ScreenWish) => Promise<PortConnection>;
  /** What that guest uses of this node; throws when that cannot be told. */
  readonly measure?: (key: string) => Usage;
  /** The last run that is over of the machine with this uid, if any is known here. */
  readonly lastRun?: (uid: string) => Promise<EndedRun | undefined>;
  /** A picture of the screen of that guest; throws when there is none. */
  readonly takeScreenshot?: (key: string, options: { readonly movesCursor: boolean }) => Promise<Buffer>;
};
export type ConsoleServer = { readonly port: number; renew(certs: Certificates): void; close(): Promise<void> };

const PATH =
  /^\/v1\/namespaces\/([a-z0-9-]{1,63})\/virtualmachineinstances\/([a-z0-9.-]{1,253})\/(console|vnc|portforward\/([1-9]\d{0,4})(?:\/(tcp|udp))?)$/;
const ACTION_PATH = /^\/v1\/namespaces\/([a-z0-9-]{1,63})\/virtualmachineinstances\/([a-z0-9.-]{1,253})\/(\w+|vnc\/screenshot)$/;
const RUN_PATH = /^\/v1\/runs\/([A-Za-z0-9-]{1,128})$/;
const SUBPROTOCOL = 'plain.kubevirt.io';
/** All that is kept of the past, and room for what comes meanwhile. */
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;
const MAX_MESSAGE_BYTES = 1024 * 1024;
const NORMAL_CLOSURE = 1000;
/** What a shared client says, as text, to be the one who types; it hears `writing` and `watching`. Bytes of the console are binary. */
const TAKE_OVER = 'take-over';

/** Listens until closed. */
export async function startConsoleServer(options: ConsoleServerOptions): Promise<ConsoleServer> {
  const { certs, host, port, clock, log } = options;
  const server = createServer(tlsOptions(certs), (request, response) => void answerAction(request, response, options));
  const webSockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    void find(request, options).then((found) => {
      if ('refusal' in found) return refuse(socket, found);
      webSockets.handleUpgrade(request, socket, head, (webSocket) => {
        void keepAlive(webSocket, clock);
        if ('connection' in found) found.connection(webSocket);
        else serve(webSocket, found);
      });
    });
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  server.on('error', (error) => log.error('console server failed', { error }));
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : port,
    renew: (next) => server.setSecureContext(tlsOptions(next)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function tlsOptions({ cert, key, ca }: Certificates): ServerOptions {
  return { cert, key, ca, requestCert: true, rejectUnauthorized: true, minVersion: 'TLSv1.3', handshakeTimeout: 10_000 };
}

type Found = {
  readonly serial: SerialConsole;
  readonly isShared: boolean;
  /** May type. */
  readonly writes: boolean;
  /** Wants only what was printed before. */
  readonly isReplay: boolean;
};
type FoundPort = { readonly connection: PortConnection };
type Refusal = { readonly refusal: StatusReason; readonly message: string };

async function find(request: IncomingMessage, options: ConsoleServerOptions): Promise<Found | FoundPort | Refusal> {
  const { allowedClients, consoleOf, clock } = options;
  const { authorized, ...peer } = peerOf(request.socket as TLSSocket, clock.now()); // the server speaks nothing but TLS
  if (!authorized || !allowedClients.includes(peer.commonName)) {
    return { refusal: 'Forbidden', message: `consoles are not for the client ${JSON.stringify(peer.commonName)}` };
  }
  const url = URL.parse(request.url ?? '/', 'https://virt-handler');
  const [, namespace, name, what, port, protocol] = PATH.exec(url?.pathname ?? '') ?? [];
  if (!url || namespace === undefined || name === undefined) return { refusal: 'NotFound', message: 'there is nothing at this path' };
  if (port !== undefined)
    return findPort(keyOf({ namespace, name }), { port: Number(port), protocol: protocol === 'udp' ? 'udp' : 'tcp' }, options);
  const asked = (name: string) => url.searchParams.get(name);
  if (what === 'vnc') return findScreen(keyOf({ namespace, name }), screenWish(asked), options);
  const serial = consoleOf(keyOf({ namespace, name }));
  if (!(await serial?.isThere()) || !serial)
    return { refusal: 'NotFound', message: `the guest ${namespace}/${name} has no serial console here` };
  const isReplay = asked('follow') === 'false';
  return { serial, isShared: asked('shared') === 'true', writes: !isReplay && asked('write') !== 'false', isReplay };
}

function screenWish(asked: (name: string) => string | null): ScreenWish {
  if (asked('shared') === 'true') return asked('write') === 'false' ? 'watching' : 'shared';
  return asked('preserveSession') === 'true' ? 'preserve' : 'plain';
}

async function findPort(key: string, port: GuestPort, { connectTo }: ConsoleServerOptions): Promise<FoundPort | Refusal> {
  try {
    const connection = await connectTo?.(key, port);
    return connection ? { connection } : { refusal: 'NotFound', message: 'there is nothing at this path' };
  } catch (error) {
    const refusal = error instanceof ApiError ? error.reason : 'InternalError';
    return { refusal, message: `Cannot connect to port ${port.port} of the guest ${key}: ${messageOf(error)}` };
  }
}

async function findScreen(key: string, wish: ScreenWish, { connectScreen }: ConsoleServerOptions): Promise<FoundPort | Refusal> {
  try {
    const connection = await connectScreen?.(key, wish);
    return connection ? { connection } : { refusal: 'NotFound', message: 'there is nothing at this path' };
  } catch (error) {
    const refusal = error instanceof ApiError ? error.reason : 'InternalError';
    return { refusal, message: `Cannot connect to the screen of the guest ${key}: ${messageOf(error)}` };
  }
}

/** Anything that asks for no upgrade: an action by PUT, a question for the agent, a picture of the screen, or a mistake. */
async function answerAction(
  request: IncomingMessage,
  response: ServerResponse,
  { allowedClients, act, askAgent, takeScreenshot, measure, lastRun, clock }: ConsoleServerOptions,
): Promise<void> {
  const { authorized, commonName } = peerOf(request.socket as TLSSocket, clock.now()); // the server speaks nothing but TLS
  const isKnown = authorized && allowedClients.includes(commonName);
  const url = URL.parse(request.url ?? '/', 'https://virt-handler');
  const [, namespace, name, action = ''] = ACTION_PATH.exec(url?.pathname ?? '') ?? [];
  const { method = '' } = request;
  const isForAgent = askAgent !== undefined && answerFor({ method, what: action }) !== undefined;
  const isAction = method === 'PUT' && act !== undefined && isGuestAction(action);
  const isPicture = method === 'GET' && action === 'vnc/screenshot' && takeScreenshot !== undefined;
  const isMeasurement = method === 'GET' && action === 'usage' && measure !== undefined;
  const [, machineUid] = RUN_PATH.exec(url?.pathname ?? '') ?? [];
  if (machineUid !== undefined && isKnown && method === 'GET') return answerRun(response, await lastRun?.(machineUid));
  if (namespace === undefined || name === undefined || !(isForAgent || isAction || isPicture || isMeasurement)) {
    response.writeHead(426).end();
    return;
  }
  if (!isKnown) {
    response.writeHead(403).end(`guests do not obey the client ${JSON.stringify(commonName)}`);
    return;
  }
  try {
    const key = keyOf({ namespace, name });
    if (isPicture) {
      const picture = await takeScreenshot(key, { movesCursor: url?.searchParams.get('moveCursor') === 'true' });
      response.writeHead(200, { 'content-type': 'image/png' }).end(picture);
      return;
    }
    if (isMeasurement) {
      response.writeHead(200).end(JSON.stringify(measure(key)));
      return;
    }
    if (isAction) await act(key, action);
    const answer = isForAgent ? await askAgent(key, { method, what: action, body: readQuestion(await bodyOf(request)) }) : undefined;
    response.writeHead(200).end(answer && JSON.stringify(answer));
  } catch (error) {
    response.writeHead(error instanceof ApiError ? error.code : 500).end(messageOf(error));
  }
}

function answerRun(response: ServerResponse, run: EndedRun | undefined): void {
  if (!run) response.writeHead(404).end('no run that is over is known here');
  else response.writeHead(200).end(JSON.stringify({ endedAtMs: run.endedAtMs, printed: run.printed.toString('base64') }));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_MESSAGE_BYTES) throw new ApiError('RequestEntityTooLarge', `the question is larger than ${MAX_MESSAGE_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Good at this moment: a connection may outlive the certificate that it was made with. */
function peerOf(socket: TLSSocket, now: number): { readonly authorized: boolean; readonly commonName: string } {
  const peer = verifiedPeer(socket);
  return { authorized: peer !== undefined && peer.validUntilMs >= now, commonName: peer?.commonName ?? '' };
}

function refuse(socket: Duplex, { refusal, message }: Refusal): void {
  const code = STATUS_CODES[refusal];
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Failure', reason: refusal, code, message });
  const head = [
    `HTTP/1.1 ${code} ${refusal}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function serve(webSocket: WebSocket, { serial, isShared, writes, isReplay }: Found): void {
  const gone = new AbortController();
  const viewer = viewerFor(webSocket, { isShared, writes });
  webSocket.once('close', () => gone.abort());
  webSocket.on('error', () => webSocket.terminate());
  webSocket.on('message', (data, isBinary) => {
    if (isShared && !isBinary) return void (String(data) === TAKE_OVER && serial.takeOver(viewer));
    // Nothing more is read from a client until the guest has taken what it typed.
    webSocket.pause();
    void serial.write(viewer, bytesOf(data), gone.signal).finally(() => webSocket.resume());
  });
  webSocket.once('close', serial.attach(viewer));
  if (isReplay) webSocket.close(NORMAL_CLOSURE, 'that is all so far');
}

function viewerFor(webSocket: WebSocket, wish: Pick<Found, 'isShared' | 'writes'>): Viewer {
  return {
    ...wish,
    tell: (isWriter) => {
      if (wish.isShared && webSocket.readyState === webSocket.OPEN) webSocket.send(isWriter ? 'writing' : 'watching');
    },
    send: (bytes) => {
      if (webSocket.bufferedAmount > MAX_UNSENT_BYTES) return false;
      if (webSocket.readyState === webSocket.OPEN) webSocket.send(bytes, { binary: true });
      return true;
    },
    close: (why) => webSocket.close(NORMAL_CLOSURE, why),
  };
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
