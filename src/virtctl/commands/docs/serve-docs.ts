/** The documentation on loopback: files of one folder, to be read by whoever is on this machine. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { UserError } from '../../../base/errors.ts';
import type { PageFile, PageFiles } from '../../../ui-server/page-files.ts';

export type DocsServer = { readonly address: string; close(): Promise<void> };

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
  vary: 'accept-encoding',
};

/** Resolves when browsers can come. */
export async function serveDocs(files: PageFiles, port: number): Promise<DocsServer> {
  const server = createServer((request, response) => answer(files, request, response));
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new UserError('PORT_IN_USE', `port ${port} is taken`, {
      why: 'another program listens there',
      fix: 'leave --port out',
      cause: error,
    });
  }
  const { port: taken } = server.address() as AddressInfo; // of a server that listens at a port
  const close = async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return { address: `http://127.0.0.1:${taken}/`, close };
}

function answer(files: PageFiles, { method = 'GET', url = '/', headers }: IncomingMessage, response: ServerResponse): void {
  const { pathname } = new URL(url, 'http://docs');
  const isReading = method === 'GET' || method === 'HEAD';
  const file = files.get(pathname === '/' ? '/index.html' : pathname);
  if (!isReading || !file) refuse(response, isReading ? 404 : 405);
  else if (headers['if-none-match'] === file.etag) response.writeHead(304, { ...HEADERS, etag: file.etag }).end();
  else send(response, file, method === 'HEAD');
}

/** Compressed, which is how the files are held and what every browser takes. */
function send(response: ServerResponse, { etag, type, gzipped }: PageFile, isHead: boolean): void {
  response.writeHead(200, { ...HEADERS, etag, 'content-type': type, 'content-encoding': 'gzip', 'content-length': gzipped.length });
  response.end(isHead ? undefined : gzipped);
}

function refuse(response: ServerResponse, status: number): void {
  response
    .writeHead(status, { ...HEADERS, 'content-type': 'text/plain' })
    .end(status === 404 ? 'There is no such page.\n' : 'Pages are read.\n');
}
