/** Starts the agent of one node: its guests, their consoles, its heartbeat. */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { MetricFamilies } from '../base/metrics.ts';
import { type KeyPair, VIRT_HANDLER_CLIENT_NAME } from '../base/node/pki.ts';
import type { Client } from '../client/client.ts';
import { type FollowedConfiguration, followConfiguration } from '../client/follow-configuration.ts';
import { RunLogs } from './console/run-logs.ts';
import { Screens } from './console/screen.ts';
import { offerDevices } from './devices/offer-devices.ts';
import { runHeartbeat } from './heartbeat.ts';
import { addGuestFamilies } from './metrics/guest-families.ts';
import { GuestMeter } from './metrics/guest-meter.ts';
import { GuestPanics } from './metrics/guest-panics.ts';
import { PodProcesses } from './metrics/pod-processes.ts';
import { UsageHistories } from './metrics/usage-histories.ts';
import { startGuestNetwork } from './network/controller.ts';
import { GuestWire } from './network/guest-wire.ts';
import { startNodeCaches } from './node-caches.ts';
import { answersFrom } from './server/answers.ts';
import { type Certificates, startHandlerServer } from './server/server.ts';
import { runDomainController } from './vmi/controller.ts';
import { Domains, type Guest } from './vmi/domains.ts';

export type VirtHandlerOptions = {
  readonly client: Client;
  readonly nodeName: string;
  /** The folder with `pods/<uid>/volumes/...` in it. */
  readonly kubeletRoot: string;
  /** Where the `/proc` of the node is mounted, when that is not ours. */
  readonly nodeProcesses?: string | undefined;
  /** Where to keep what guests printed in runs that are over; nowhere when not given. */
  readonly runLogsFolder?: string;
  /** Where to keep what guests used lately; in memory alone when not given. */
  readonly usageHistoryFolder?: string | undefined;
  /** Where the kubelet takes devices that Pods may have: KVM, when this node shows one. None is offered when not given. */
  readonly devicePlugins?: string | undefined;
  /** Our own certificate and key, and the authority that signs those of virt-api. */
  readonly certs: HandlerCertificates;
  /** Common names that clients may have. */
  readonly allowedClients?: readonly string[];
  readonly host: string;
  readonly port: number;
  /** That of the KubeVirt object; followed here when not given. */
  readonly configuration?: FollowedConfiguration;
  /** Where to show what guests use. */
  readonly metrics?: MetricFamilies;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
};
/** `migration` is what we show to other virt-handlers, to which guests are moved; none are without it. */
export type HandlerCertificates = Certificates & { readonly migration?: KeyPair };
export type VirtHandler = {
  /** Where virt-api asks about guests. */
  readonly port: number;
  /** Uses new certificates for connections made from now on. */
  renewCertificates(certs: HandlerCertificates): void;
  /** Resolves when everything has ended after the signal aborted. Guests go on; the next handler finds them. */
  readonly stopped: Promise<void>;
};

/** Resolves when guests can be asked about; runs until the signal aborts. */
export async function startVirtHandler(options: VirtHandlerOptions): Promise<VirtHandler> {
  const { client, nodeName, kubeletRoot, certs, host, port, clock, signal, allowedClients = [VIRT_HANDLER_CLIENT_NAME] } = options;
  const log = options.log.with({ component: 'virt-handler' });
  const runLogs = options.runLogsFolder === undefined ? undefined : new RunLogs(options.runLogsFolder);
  const panics = new GuestPanics();
  let current = certs;
  const domains = new Domains({
    kubeletRoot,
    clock,
    log,
    identity: () => current.migration && { ...current.migration, ca: current.ca },
    onReset: (key) => network.hasReset(key),
    onPanic: (key, told) => panics.observe(key, told),
    takesConnection: (key, guestPort, inTime) => network.asks(key, guestPort, inTime),
    ...(runLogs && { runLogs }),
  });
  const common = { client, nodeName, clock, log, signal };
  const caches = startNodeCaches(common);
  const network = startGuestNetwork({
    ...common,
    metrics: options.metrics,
    ...caches,
    monitor: (key, line) => domains.monitor(key, line),
    wireOf: (key) => wireOf(domains.guest(key), clock),
    isRunning: (key) => domains.domainOf(key)?.state === 'running',
  });
  const processes = new PodProcesses({ kubeletRoot, nodeProcesses: options.nodeProcesses, clock });
  const histories = new UsageHistories({ folder: options.usageHistoryFolder, clock, log });
  const meter = new GuestMeter({ domains, processes, clock, log, onStep: (guest, now, before) => void histories.add(guest, now, before) });
  const answers = answersFrom({
    domains,
    instanceOf: (key) => caches.vmis.get(key),
    screens: new Screens(),
    network,
    runLogs,
    histories,
    nodeProcesses: options.nodeProcesses,
    clock,
    log,
  });
  const server = await startHandlerServer({ certs, allowedClients, host, port, clock, log, answers });
  if (options.metrics) {
    addGuestFamilies({ metrics: options.metrics, nodeName, figures: () => meter.figures(), signal });
    options.metrics.add(panics.family, signal);
  }
  const stopped = Promise.all([
    meter.run(signal),
    runDomainController({ ...common, ...caches, domains, metrics: options.metrics }),
    runHeartbeat(common),
    network.stopped,
    offerDevices(options.devicePlugins, { ...common, configuration: options.configuration ?? followConfiguration(common) }),
  ]).then(async () => {
    domains.close();
    await server.close();
  });
  const renewCertificates = (next: HandlerCertificates) => {
    current = next;
    server.renew(next);
  };
  return { port: server.port, renewCertificates, stopped };
}

function wireOf({ folder, session }: Guest, clock: Clock): GuestWire {
  return new GuestWire({ folder, execute: (command, parameters) => session.execute(command, parameters), clock });
}
