/** What every component on a cluster has around it, beside what every process has: a client, the configuration, metrics. */
import { isVerbose } from '../../api/kubevirt/configuration/log-verbosity.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { MetricFamilies } from '../../base/metrics.ts';
import { addProcessMetrics } from '../../base/node/metrics-page.ts';
import { type Client, createClient } from '../../client/client.ts';
import { type FollowedConfiguration, followConfiguration } from '../../client/follow-configuration.ts';
import { type LimitedFetch, limitRequests } from '../../client/limit-requests.ts';
import { inClusterConfig } from '../../client/node/in-cluster.ts';
import { loadKubeconfig } from '../../client/node/kubeconfig.ts';
import { createTlsFetch } from '../../client/node/tls-fetch.ts';
import { VERSION } from '../version.ts';
import { countRequests } from './count-requests.ts';
import { startMetricsServer } from './metrics-server.ts';
import { type Flags, type ProcessContext, runProcess } from './run-process.ts';

export type ComponentContext = {
  readonly client: Client;
  /** That of the KubeVirt object, as it is now. */
  readonly configuration: FollowedConfiguration;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts on SIGTERM. */
  readonly signal: AbortSignal;
  readonly flags: Flags;
  /** Where we answer; the address of the Pod. */
  readonly host: string;
  /** Called when the component does its work. */
  readonly ready: () => void;
  /** What is shown under /metrics. */
  readonly metrics: MetricFamilies;
};
export type ComponentOptions = {
  readonly name: string;
  /** Flags beside those of every component, with what they are when not given. */
  readonly flags: Readonly<Record<string, string>>;
  /** Resolves when the component has ended after the signal. */
  readonly run: (context: ComponentContext) => Promise<void>;
};

const COMMON_FLAGS = { kubeconfig: '', 'metrics-port': '8443' };

/** Runs until SIGTERM, then leaves with 0; leaves with 1 (and says why) when the component fails, so that it is started again. */
export async function runComponent({ name, flags: own, run }: ComponentOptions): Promise<void> {
  await runProcess({
    name,
    flags: { ...COMMON_FLAGS, ...own },
    run: async (process) => run(await contextFor(name, process)),
  });
}

async function contextFor(name: string, { flags, log, signal, host, health, sayEverything }: ProcessContext): Promise<ComponentContext> {
  const metrics = new MetricFamilies();
  const { client, limit } = clientFor(name, flags['kubeconfig'], metrics);
  const configuration = followConfiguration({ client, clock: systemClock, log, signal });
  configuration.onChange((now) => {
    sayEverything(isVerbose(now, name, flags['node']));
    limit(Object.entries(now.clientLimits).find(([component]) => component === name)?.[1]);
  });
  addProcessMetrics(metrics, { version: VERSION });
  metrics.gauge(`kubevirt_${name.replaceAll('-', '_')}_ready_status`, `Whether this ${name} does its work.`, () =>
    Number(health.isReady()),
  );
  const port = Number(flags['metrics-port']);
  await startMetricsServer({ component: name, metrics, client, host, port, clock: systemClock, log });
  return { client, configuration, clock: systemClock, log, signal, flags, host, ready: health.ready, metrics };
}

function clientFor(
  name: string,
  kubeconfig: string | undefined,
  metrics: MetricFamilies,
): { client: Client; limit: LimitedFetch['limit'] } {
  const cluster = kubeconfig ? loadKubeconfig(kubeconfig) : inClusterConfig();
  const { fetch, limit } = limitRequests(countRequests(createTlsFetch(cluster), metrics, systemClock), systemClock);
  return { client: createClient({ fetch, baseUrl: cluster.server, userAgent: `${name}/${VERSION}` }), limit };
}
