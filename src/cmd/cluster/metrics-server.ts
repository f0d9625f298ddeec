/**
 * /metrics of a component on a cluster: HTTPS, since it names machines and is asked with a token, and for those who may. The certificate is made here,
 * for this process: who collects metrics does not check it, as with KubeVirt's own.
 */
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

const LIFE_MS = 10 * 365 * 24 * 3_600_000;

/** Resolves when it answers. */
export async function startMetricsServer({ component, metrics, client, host, port, clock, log }: MetricsServerOptions): Promise<WebServer> {
  const validity = { notBeforeMs: clock.now() - 3_600_000, notAfterMs: clock.now() + LIFE_MS };
  const authority = await issueAuthority({ commonName: `${component}-metrics-ca` }, validity);
  const serving = await issueLeaf(authority, { subject: { commonName: component }, use: 'server', dnsNames: [component] }, validity);
  const access = new MetricsAccess({ client, clock });
  return startWebServer({
    serving,
    clientCa: authority.cert,
    host,
    port,
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
