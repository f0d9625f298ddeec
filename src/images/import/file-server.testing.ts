/** A web server on the loopback with one file, which can be cut off, stall, change and forget what ranges are. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export type FileServer = {
  readonly origin: string;
  /** Whatever is not another page is this. */
  content: Buffer;
  etag: string | undefined;
  /** The answer ends here, without the rest, so many times. */
  cutAt: number | undefined;
  cuts: number;
  /** After these bytes nothing more comes. */
  stallAt: number | undefined;
  hasRanges: boolean;
  /** Other answers, by path. */
  readonly pages: Map<string, (request: IncomingMessage, response: ServerResponse) => void>;
  /** The paths that were asked for, with the range. */
  readonly requests: string[];
};

export async function startFileServer(t: Pick<TestContext, 'after'>, content: Buffer): Promise<FileServer> {
  const http = createServer((request, response) => answer(server, request, response));
  await once(http.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    http.closeAllConnections();
    http.close();
  });
  const server: FileServer = {
    origin: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    ...{ content, etag: '"one"', cutAt: undefined, cuts: 1, stallAt: undefined, hasRanges: true, pages: new Map(), requests: [] },
  };
  return server;
}

function answer(server: FileServer, request: IncomingMessage, response: ServerResponse): void {
  const { range } = request.headers;
  server.requests.push(`${request.url}${range ? ` ${range}` : ''}`);
  const page = server.pages.get(request.url ?? '');
  if (page) {
    page(request, response);
    return;
  }
  if (server.etag !== undefined && request.headers['if-none-match'] === server.etag) {
    response.writeHead(304).end();
    return;
  }
  const isSame = request.headers['if-range'] === undefined || request.headers['if-range'] === server.etag;
  const from = server.hasRanges && isSame && range ? Number(/bytes=(\d+)-/.exec(range)?.[1]) : 0;
  const { content } = server;
  response.writeHead(from > 0 ? 206 : 200, {
    'content-length': content.length - from,
    ...(server.etag !== undefined && { etag: server.etag }),
    ...(from > 0 && { 'content-range': `bytes ${from}-${content.length - 1}/${content.length}` }),
  });
  const end = server.stallAt ?? (server.cuts > 0 ? server.cutAt : undefined);
  if (end === undefined || from >= end) response.end(content.subarray(from));
  else {
    if (server.stallAt === undefined) server.cuts -= 1;
    // Not at once: what has not been read when a connection breaks is lost to whoever reads it.
    response.write(content.subarray(from, end), () => server.stallAt ?? setTimeout(() => response.socket?.destroy(), 400));
  }
}
