/** virt-api: the server behind the aggregated API subresources.kubevirt.io. Who asks is told by the API server in front; whether they may is asked for each call. */
import type { ClusterConfiguration } from '../api/kubevirt/configuration/cluster-configuration.ts';
import { subresourceGroupPath } from '../api/kubevirt/subresource-path.ts';
import { SUBRESOURCE_VERSIONS } from '../api/kubevirt/subresources.ts';
import type { Clock } from '../base/clock.ts';
import type { MetricFamilies } from '../base/metrics.ts';
import type { Pki } from '../base/node/pki.ts';
import { startWebServer, type WebServer } from '../base/node/web-server.ts';
import { type FollowedConfiguration, followConfiguration } from '../client/follow-configuration.ts';
import { followPresets } from '../client/follow-presets.ts';
import { answerReview, isReviewPath } from './admission/answer-review.ts';
import { CreatedMachines } from './created-machines.ts';
import { answerExternal, externalExportOf } from './export/pass-on-export.ts';
import { LastConnections } from './last-connections.ts';
import { answer, open, type RouteOptions } from './routes.ts';
import { StreamAccess } from './stream-access.ts';
import { addStreamMetrics } from './stream-metrics.ts';
import { answerUpload, isUploadPath } from './upload/upload-proxy.ts';

/** Our own certificate, the authority of the front proxy, and what we show to (and expect of) virt-handler; the last two are read for each call. */
export type VirtApiPki = Pick<Pki, 'virtApi' | 'frontProxyCa' | 'virtHandlerClient' | 'kubevirtCa'>;

export type VirtApiOptions = RouteOptions & {
  readonly pki: VirtApiPki;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** That of the KubeVirt object; followed here when not given. */
  readonly configuration?: FollowedConfiguration;
  /** Where to show how many streams are open. */
  readonly metrics?: MetricFamilies;
  readonly clock: Clock;
  /** Ends the server. */
  readonly signal: AbortSignal;
};

/** `stopped` resolves after the signal, when the server is closed. */
export type VirtApi = WebServer & { readonly stopped: Promise<void> };

/** Probes of the kubelet carry no certificate. */
const OPEN_PATHS = ['/healthz', '/livez', '/readyz', ...SUBRESOURCE_VERSIONS.map((version) => subresourceGroupPath('healthz', version))];

/** Resolves when the server accepts connections. */
export async function startVirtApi(options: VirtApiOptions): Promise<VirtApi> {
  const { client, pki, host, port, clock, log, signal } = options;
  const configuration = options.configuration ?? followConfiguration({ client, clock, log, signal });
  const presets = followPresets({ client, clock, log, signal });
  const connections = new LastConnections(clock);
  const created = new CreatedMachines();
  const streams = new StreamAccess({ client, clock, log, signal, onOpen: connections.observe });
  if (options.metrics) {
    addStreamMetrics(options.metrics, streams, signal);
    for (const family of [connections, created]) options.metrics.add(family, signal);
  }
  const server = await startWebServer({
    serving: pki.virtApi,
    clientCa: pki.frontProxyCa,
    host,
    port,
    clock,
    log,
    async handle(request, { peer, rawHeaders }) {
      const { pathname } = new URL(request.url);
      if (OPEN_PATHS.includes(pathname)) return new Response('ok');
      if (isReviewPath(pathname))
        return answerReview(request, pathname, { client, clock, configuration, presets, log, onCreate: created.observe }); // webhooks are called without a client certificate
      if (isUploadPath(pathname)) return answerUpload(request, { client, clock, identity: pki.virtHandlerClient });
      const exported = externalExportOf(pathname);
      if (exported) return answerExternal(request, exported, client);
      return answer(request, { peer, rawHeaders, configuration, streams }, options);
    },
    upgrade: (upgrade, { peer }) => open({ upgrade, peer, streams, configuration }, options),
  });
  const follow = ({ tls }: ClusterConfiguration) => server.renew(tls);
  follow(configuration.current);
  configuration.onChange(follow);
  const stopped = aborted(signal).then(() => server.close());
  return { ...server, stopped };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
