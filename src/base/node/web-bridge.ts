/** Between Node's HTTP objects and the web's Request and Response: bodies stream both ways, and a client that leaves aborts its request. */
import type { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { ApiError } from '../errors.ts';
import { statusResponse } from '../status-object.ts';

export type NodeRequest = IncomingMessage | Http2ServerRequest;
export type NodeResponse = ServerResponse | Http2ServerResponse;

/** Belong to one connection, not to the message; HTTP/2 forbids most of them. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);
/**
 * How much of an unwanted request body is read and thrown away so that the connection can be used again: more than any body may have.
 * A connection that is closed with something unread takes the answer with it, or breaks under the next request.
 */
const MAX_DISCARDED_BYTES = 5 * 1024 * 1024;
const MAX_DISCARD_MS = 10_000;

export type BridgeOptions = {
  readonly incoming: NodeRequest;
  readonly outgoing: NodeResponse;
  readonly answer: (request: Request) => Promise<Response>;
  /** Aborts every request, when the server closes. */
  readonly signal: AbortSignal;
};

/** Answers one Node request with a web handler; resolves when the answer is out or the client is gone. */
export async function bridge({ incoming, outgoing, answer, signal }: BridgeOptions): Promise<void> {
  const clientLeft = new AbortController();
  let isDone = false;
  outgoing.once('close', () => {
    if (!isDone) clientLeft.abort();
  });
  outgoing.on('error', () => {}); // a broken connection; 'close' follows and says all there is to say
  try {
    const response = await webAnswer(incoming, answer, AbortSignal.any([clientLeft.signal, signal]));
    if (!clientLeft.signal.aborted) await sendResponse(outgoing, response, incoming.method === 'HEAD');
    else await response.body?.cancel().catch(() => {});
  } finally {
    isDone = true;
    discardRest(incoming);
  }
}

/** True for headers that must not be passed on with a message. */
export function isHopByHop(name: string): boolean {
  return HOP_BY_HOP.has(name.toLowerCase());
}

/** Node's flat list of names and values as web headers, without what belongs to the connection. */
export function webHeaders(rawHeaders: readonly string[]): Headers {
  const headers = new Headers();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (!name.startsWith(':') && !isHopByHop(name)) headers.append(name, rawHeaders[i + 1] ?? '');
  }
  return headers;
}

/** A message body as a web stream that reads no faster than it is read; `onCancel` is told when the reader wants no more. */
export function bodyStream(incoming: NodeRequest, onCancel: () => void): ReadableStream<Uint8Array> {
  let isOver = false;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const fail = (error: Error) => {
          if (!isOver) controller.error(error);
          isOver = true;
        };
        incoming.on('data', (chunk: Buffer) => {
          if (isOver) return;
          controller.enqueue(chunk);
          if ((controller.desiredSize ?? 0) <= 0) incoming.pause();
        });
        incoming.on('end', () => {
          if (!isOver) controller.close();
          isOver = true;
        });
        incoming.on('error', fail);
        incoming.on('close', () => fail(new Error('the connection was closed before the body was complete')));
        incoming.pause();
      },
      pull() {
        incoming.resume();
      },
      cancel() {
        isOver = true;
        onCancel();
      },
    },
    { highWaterMark: 0 },
  );
}

async function webAnswer(incoming: NodeRequest, answer: BridgeOptions['answer'], signal: AbortSignal): Promise<Response> {
  try {
    return await answer(webRequest(incoming, signal));
  } catch (error) {
    return statusResponse(error);
  }
}

function webRequest(incoming: NodeRequest, signal: AbortSignal): Request {
  const { method = 'GET', url = '/' } = incoming;
  if (!url.startsWith('/')) throw new ApiError('BadRequest', `the request target ${url} is not a path`);
  const host = hostOf(incoming);
  const init: RequestInit & { duplex: 'half' } = { method, headers: webHeaders(incoming.rawHeaders), signal, duplex: 'half' };
  if (hasBody(incoming)) init.body = bodyStream(incoming, () => {});
  try {
    // joined as text: a path that starts with // would otherwise be taken for another host
    return new Request(`https://${host}${url}`, init);
  } catch (error) {
    throw new ApiError('BadRequest', 'the request is not valid HTTP', { cause: error });
  }
}

/** What the client calls this server, with the port. */
export function hostOf(incoming: NodeRequest): string {
  const authority = incoming.headers[':authority'];
  return (typeof authority === 'string' ? authority : incoming.headers.host) ?? '';
}

function hasBody(incoming: NodeRequest): boolean {
  if (incoming.method === 'GET' || incoming.method === 'HEAD' || incoming.headers['content-length'] === '0') return false;
  if ('stream' in incoming) return !incoming.stream.endAfterHeaders;
  return incoming.headers['content-length'] !== undefined || incoming.headers['transfer-encoding'] !== undefined;
}

async function sendResponse(outgoing: NodeResponse, response: Response, isHead: boolean): Promise<void> {
  outgoing.statusCode = response.status;
  response.headers.forEach((value, name) => {
    if (!isHopByHop(name)) outgoing.setHeader(name, value);
  });
  const reader = response.body?.getReader();
  if (!reader || isHead) {
    outgoing.end();
    await reader?.cancel();
    return;
  }
  outgoing.once('close', () => void reader.cancel().catch(() => {}));
  try {
    await pump(reader, outgoing);
    outgoing.end();
  } catch (error) {
    cutOff(outgoing, error); // the status is out already: a broken connection is the only way left to say that the body is not whole
  }
}

async function pump(reader: ReadableStreamDefaultReader<Uint8Array>, outgoing: NodeResponse): Promise<void> {
  let next = reader.read();
  // A short answer goes out in one piece with its headers; a watch shows its headers at once, even when nothing happens for hours.
  const isReady = await Promise.race([next.then(() => true), new Promise<boolean>((resolve) => setImmediate(resolve, false))]);
  if (!isReady && !outgoing.closed) (outgoing as ServerResponse).flushHeaders(); // both kinds have it; the types of one forgot
  while (true) {
    const { done, value } = await next;
    if (done || outgoing.closed || outgoing.destroyed) return;
    // the two kinds of response have write methods of different shape; both take bytes
    if (!(outgoing as ServerResponse).write(value)) await drained(outgoing);
    next = reader.read();
  }
}

/** Resolves when there is room for more, or when nobody is there any more. */
export function drained(outgoing: Pick<EventEmitter, 'on' | 'off'>): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off('drain', done);
      outgoing.off('close', done);
      resolve();
    };
    outgoing.on('drain', done);
    outgoing.on('close', done);
  });
}

function cutOff(outgoing: NodeResponse, error: unknown): void {
  if ('stream' in outgoing) outgoing.stream?.close(constants.NGHTTP2_INTERNAL_ERROR);
  else outgoing.destroy(error instanceof Error ? error : undefined);
}

function discardRest(incoming: NodeRequest): void {
  if (incoming.complete || incoming.destroyed) return;
  let left = MAX_DISCARDED_BYTES;
  const giveUp = () => {
    if ('stream' in incoming) incoming.stream.close(constants.NGHTTP2_NO_ERROR);
    else incoming.destroy();
  };
  // Whoever never ends a body that nobody wants must not hold a connection with it.
  const timer = setTimeout(giveUp, MAX_DISCARD_MS).unref();
  incoming.once('close', () => clearTimeout(timer));
  incoming.on('end', () => clearTimeout(timer));
  incoming.on('error', () => {});
  incoming.removeAllListeners('data'); // a stream that nobody reads would pause it
  incoming.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left <= 0) giveUp();
  });
  incoming.resume();
}
