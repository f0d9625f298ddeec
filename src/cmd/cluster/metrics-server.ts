/**
 * /metrics of a component on a cluster: HTTPS, since it names machines and is asked with a token, and for those who may. The certificate is made here,
 * for this process: who collects metrics does not check it, as with KubeVirt's own. What makes it takes 10 MB and a fifth of a second, so the server stands
 * behind a door, and is started when somebody knocks for the first time.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { MetricFamilies } from '../../base/metrics.ts';
import { respondMetrics } from '../../base/node/metrics-page.ts';
import { issueAuthority, issueLeaf } from '../../base/node/pki-issue.ts';
import { startWebServer, type WebServer } from '../../base/node/web-server.ts';
import type { Client } from '../../client/client.ts';
import { MetricsAccess } from './metrics-access.ts';

export type MetricsServerOptions = {
  readonly component: string;
  readonly metrics: MetricFamilies;
  readonly client: Client;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly clock: Clock;
  readonly log: Logger;
};

export type MetricsServer = { readonly port: number; close(): Promise<void> };

const LIFE_MS = 10 * 365 * 24 * 3_600_000;
const MOST_CONNECTIONS = 64;
const LOOPBACK = '127.0.0.1';

/** Resolves when connections are taken. */
export async function startMetricsServer(options: MetricsServerOptions): Promise<MetricsServer> {
  let behind: Promise<WebServer> | undefined;
  const sockets = new Set<Socket>();
  const door = createServer((socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy()));
    behind ??= startBehind(options);
    behind.then(
      ({ port }) => join(socket, connect(port, LOOPBACK)),
      (error: unknown) => {
        behind = undefined; // the next one may have more luck
        options.log.error('cannot serve metrics', { error });
        socket.destroy();
      },
    );
  });
  door.maxConnections = MOST_CONNECTIONS;
  door.listen(options.port, options.host);
  await once(door, 'listening');
  return {
    port: (door.address() as AddressInfo).port, // it listens on a port, not on a path
    async close() {
      door.close();
      for (const socket of sockets) socket.destroy();
      await (await behind)?.close();
    },
  };
}

async function startBehind({ component, metrics, client, clock, log }: MetricsServerOptions): Promise<WebServer> {
  const validity = { notBeforeMs: clock.now() - 3_600_000, notAfterMs: clock.now() + LIFE_MS };
  const authority = await issueAuthority({ commonName: `${component}-metrics-ca` }, validity);
  const serving = await issueLeaf(authority, { subject: { commonName: component }, use: 'server', dnsNames: [component] }, validity);
  const access = new MetricsAccess({ client, clock });
  return startWebServer({
    serving,
    clientCa: authority.cert,
    host: LOOPBACK,
    port: 0,
    clock,
    log,
    async handle(request) {
      if (new URL(request.url).pathname !== '/metrics') throw new ApiError('NotFound', 'there is nothing here but /metrics');
      if (request.method !== 'GET') throw new ApiError('MethodNotAllowed', `${request.method} is not possible here, only GET`);
      await access.require(request.headers.get('authorization'));
      return respondMetrics(metrics);
    },
  });
}

/** What one says the other hears, and when one goes both do. */
function join(outside: Socket, inside: Socket): void {
  outside.on('close', () => inside.destroy());
  inside.on('close', () => outside.destroy()).on('error', () => outside.destroy());
  outside.pipe(inside).pipe(outside);
}
