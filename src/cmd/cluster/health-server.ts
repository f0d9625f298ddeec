/** Plain HTTP for the kubelet: /healthz and /readyz. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type HealthOptions = {
  readonly host: string | undefined;
  /** 0 takes any free port. */
  readonly port: number;
};
export type HealthServer = {
  readonly port: number;
  readonly isReady: () => boolean;
  ready(): void;
  close(): void;
};

/** Resolves when it answers. */
export async function startHealthServer({ host, port }: HealthOptions): Promise<HealthServer> {
  let isReady = false;
  const server = createServer((request, response) => {
    const answer = (code: number, text: string) => response.writeHead(code, { 'content-type': 'text/plain' }).end(text);
    if (request.url === '/healthz' || request.url === '/livez') return answer(200, 'ok');
    if (request.url === '/readyz') return isReady ? answer(200, 'ok') : answer(503, 'not yet');
    return answer(404, 'not found');
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  return {
    port: (server.address() as AddressInfo).port, // it listens on a port, not on a path
    isReady: () => isReady,
    ready: () => {
      isReady = true;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
