/** What every component on a cluster has around it: flags, a log on stdout, a client, signals, health. */
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { isVerbose as saysEverything, VERBOSE } from '../../api/kubevirt/configuration/log-verbosity.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { UserError } from '../../base/errors.ts';
import { createLogger, type Logger } from '../../base/log.ts';
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
import { startHealthServer } from './health-server.ts';
import { startMetricsServer } from './metrics-server.ts';

export type Flags = Readonly<Record<string, string | undefined>>;
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

const COMMON_FLAGS = { kubeconfig: '', host: '0.0.0.0', 'health-port': '8080', 'metrics-port': '8443', v: '' };

/** Runs until SIGTERM, then leaves with 0; leaves with 1 (and says why) when the component fails, so that it is started again. */
export async function runComponent({ name, flags: own, run }: ComponentOptions): Promise<void> {
  // These wait more than they work: what V8 would keep at hand for work to come is half of their memory.
  setFlagsFromString('--optimize-for-size');
  let isVerbose = false;
  const log = createLogger({
    write: (line) => process.stdout.write(`${line}\n`),
    level: () => (isVerbose || process.env['KUBEVIRT_LOG'] === 'debug' ? 'debug' : 'info'),
    now: systemClock.now,
    fields: { component: name },
  });
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort());
  process.on('unhandledRejection', (error) => log.error('a failure that nobody handled', { error }));
  try {
    const flags = flagsFrom(process.argv.slice(2), { ...COMMON_FLAGS, ...own });
    const health = await startHealthServer({ host: flags['host'], port: Number(flags['health-port']) });
    log.info('starting', { version: VERSION });
    isVerbose = Number(flags['v']) >= VERBOSE;
    const metrics = new MetricFamilies();
    const { client, limit } = clientFor(name, flags['kubeconfig'], metrics);
    const configuration = followConfiguration({ client, clock: systemClock, log, signal: stop.signal });
    configuration.onChange((now) => {
      isVerbose = Number(flags['v']) >= VERBOSE || saysEverything(now, name, flags['node']);
      limit(Object.entries(now.clientLimits).find(([component]) => component === name)?.[1]);
    });
    addProcessMetrics(metrics, { version: VERSION });
    metrics.gauge(`kubevirt_${name.replaceAll('-', '_')}_ready_status`, `Whether this ${name} does its work.`, () =>
      Number(health.isReady()),
    );
    const host = flags['host'] ?? '';
    const port = Number(flags['metrics-port']);
    await startMetricsServer({ component: name, metrics, client, host, port, clock: systemClock, log });
    await run({
      client,
      configuration,
      clock: systemClock,
      log,
      signal: stop.signal,
      flags,
      host,
      ready: health.ready,
      metrics,
    });
    log.info('stopped');
    process.exit(0);
  } catch (error) {
    log.error('cannot go on', { error, ...(error instanceof UserError && { code: error.code, why: error.why, fix: error.fix }) });
    process.exit(error instanceof UserError ? error.exitCode : 1);
  }
}

function flagsFrom(args: readonly string[], defaults: Readonly<Record<string, string>>): Flags {
  const options = Object.fromEntries(Object.entries(defaults).map(([name, value]) => [name, { type: 'string' as const, default: value }]));
  try {
    return parseArgs({ args: [...args], options }).values as Flags;
  } catch (error) {
    const known = Object.keys(defaults).map((name) => `--${name}`);
    throw new UserError('USAGE', (error as Error).message, { fix: `known are ${known.join(', ')}`, exitCode: 2, cause: error });
  }
}

function clientFor(
  name: string,
  kubeconfig: string | undefined,
  metrics: MetricFamilies,
): { client: Client; limit: LimitedFetch['limit'] } {
  const cluster = kubeconfig ? loadKubeconfig(kubeconfig) : inClusterConfig();
  const { fetch, limit } = limitRequests(countRequests(createTlsFetch(cluster), metrics), systemClock);
  return { client: createClient({ fetch, baseUrl: cluster.server, userAgent: `${name}/${VERSION}` }), limit };
}
