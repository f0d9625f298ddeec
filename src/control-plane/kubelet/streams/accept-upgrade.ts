/** How a connection leaves HTTP: by a WebSocket, which current clients ask for first, or by SPDY/3.1. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws';
import type { Clock } from '../../../base/clock.ts';
import { ApiError } from '../../../base/errors.ts';
import { keepAlive } from '../../../base/keep-alive.ts';
import type { ClientStreams, WantedStreams } from './client-streams.ts';
import { openSpdyChannels } from './spdy-channels.ts';
import { openWebSocketChannels } from './websocket-channels.ts';

/** A connection that leaves HTTP. */
export type StreamUpgrade = { readonly request: IncomingMessage; readonly socket: Duplex; readonly head: Buffer };
/** What was agreed on. */
export type Agreed = { readonly by: 'websocket' | 'spdy'; readonly protocol: string };

type Protocols = Readonly<Record<Agreed['by'], readonly string[]>>;

/** Best first. Only v5 has a way to say that stdin has ended on a WebSocket; SPDY always had one. */
export const CHANNELS: Protocols = { websocket: ['v5.channel.k8s.io', 'v4.channel.k8s.io'], spdy: ['v4.channel.k8s.io'] };
/** On a WebSocket its messages carry the bytes of a SPDY connection. */
export const PORT_FORWARD: Protocols = { websocket: ['SPDY/3.1+portforward.k8s.io'], spdy: ['portforward.k8s.io'] };

const MAX_MESSAGE_BYTES = 1024 * 1024;
const OFFERS = { websocket: 'sec-websocket-protocol', spdy: 'x-stream-protocol-version' } as const;

/** The best that both sides speak; BadRequest when there is nothing. */
export function agreeOn({ request }: StreamUpgrade, protocols: Protocols): Agreed {
  const by = { websocket: 'websocket', 'spdy/3.1': 'spdy' }[request.headers.upgrade?.toLowerCase() ?? ''] as Agreed['by'] | undefined;
  const offered = by ? [request.headers[OFFERS[by]] ?? ''].flat().join(',').split(/ *, */) : [];
  const protocol = by && protocols[by].find((each) => offered.includes(each));
  if (by && protocol !== undefined) return { by, protocol };
  const words = [`WebSockets with ${protocols.websocket.join(' or ')}`, `SPDY/3.1 with ${protocols.spdy.join(' or ')}`];
  throw new ApiError('BadRequest', `this stream is served over ${words.join(', and over ')}`);
}

/** The streams of exec. */
export async function acceptChannels(
  upgrade: StreamUpgrade,
  agreed: Agreed,
  options: { wanted: WantedStreams; clock: Clock },
): Promise<ClientStreams> {
  const { wanted, clock } = options;
  if (agreed.by === 'spdy') return openSpdyChannels(acceptSpdy(upgrade, agreed.protocol), wanted, clock);
  return openWebSocketChannels(await acceptWebSocket(upgrade, agreed.protocol, clock), wanted);
}

/** The bytes of a SPDY connection. */
export async function acceptSpdyBytes(upgrade: StreamUpgrade, agreed: Agreed, clock: Clock): Promise<Duplex> {
  if (agreed.by === 'spdy') return acceptSpdy(upgrade, agreed.protocol);
  return createWebSocketStream(await acceptWebSocket(upgrade, agreed.protocol, clock));
}

function acceptSpdy({ socket, head }: StreamUpgrade, protocol: string): Duplex {
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: SPDY/3.1', `X-Stream-Protocol-Version: ${protocol}`];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  if (head.length > 0) socket.unshift(head);
  return socket;
}

function acceptWebSocket({ request, socket, head }: StreamUpgrade, protocol: string, clock: Clock): Promise<WebSocket> {
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: MAX_MESSAGE_BYTES });
  // The name of a protocol with a slash in it is not a legal one, and ws refuses it: the header is ours to read and to write.
  delete request.headers['sec-websocket-protocol'];
  server.on('headers', (headers) => headers.push(`Sec-WebSocket-Protocol: ${protocol}`));
  return new Promise((resolve, reject) => {
    const leave = () => reject(new ApiError('BadRequest', 'the client is gone'));
    if (socket.closed) return leave();
    socket.once('close', leave);
    server.handleUpgrade(request, socket, head, (webSocket) => {
      void keepAlive(webSocket, clock);
      resolve(webSocket);
    });
  });
}
