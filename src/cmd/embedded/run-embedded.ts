/** Puts the parts of an embedded cluster together, in the order in which they need each other. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { MetricFamilies } from '../../base/metrics.ts';
import { mustNotBeNewer, noteRelease, releaseOfData } from '../../base/node/data-release.ts';
import { removeUnfinishedWrites } from '../../base/node/durable-file.ts';
import { nameOfPod } from '../../base/node/living-pods.ts';
import { addProcessMetrics } from '../../base/node/metrics-page.ts';
import { identify } from '../../base/node/process-identity.ts';
import { ensureSigningKey } from '../../base/node/signing-key.ts';
import { timestamp } from '../../base/timestamp.ts';
import { kubeconfigPath } from '../../client/node/find-kubeconfig.ts';
import { writeKubeconfig } from '../../client/node/kubeconfig.ts';
import { listen } from '../../control-plane/apiserver/transport/listen.ts';
import { keepStore } from '../../control-plane/store/keep-store.ts';
import { openStore, type Store } from '../../control-plane/store/store.ts';
import { statePath } from '../../virtctl/embedded/paths.ts';
import type { EmbeddedState } from '../../virtctl/embedded/state.ts';
import { VERSION } from '../version.ts';
import { adoptGuests } from './adopt-guests.ts';
import { allEnded } from './all-ended.ts';
import { startLivePki } from './live-pki.ts';
import { prepareHome } from './prepare-home.ts';
import { runMemoryRelease } from './release-memory.ts';
import { servePage } from './serve-page.ts';
import { startApi } from './start-api.ts';
import { startComponents } from './start-components.ts';
import { VirtApiEndpoint } from './virt-api-endpoint.ts';

export type EmbeddedOptions = {
  readonly home: string;
  readonly port: number;
  /** Whether we were started in a network namespace of our own. */
  readonly network: 'namespace' | 'host';
  /** How many nodes there are at least. */
  readonly nodes: number;
  /** Leave guests running that the store does not know, instead of refusing to start. */
  readonly adopt: boolean;
  /** False: the API alone, so that what ends controllers can be deleted. */
  readonly runsControllers?: boolean;
  /** Where the web page is served, 0 for any port; nowhere unless given. */
  readonly pagePort?: number;
  /** A descriptor that listens for clients of the API, on the loopback of the host. */
  readonly listener?: number;
  readonly log: Logger;
  readonly clock: Clock;
  readonly signal: AbortSignal;
};

/** Resolves when the cluster serves; `stopped` resolves after the signal, when everything has been put away. */
export async function runEmbedded(options: EmbeddedOptions): Promise<{ state: EmbeddedState; stopped: Promise<void> }> {
  const { home, clock, log, signal, runsControllers = true } = options;
  prepareHome(home);
  mustNotBeNewer(releaseOfData(home), { home, version: VERSION });
  const store = openStore({ path: join(home, 'store.db'), onFatal: (error) => endAtOnce(error, log) });
  adoptOrClose(store, options);
  for (const folder of [home, join(home, 'pki')]) if (existsSync(folder)) removeUnfinishedWrites(folder); // of a process that was killed
  const keeping = keepStore({ store, backupsDir: join(home, 'backups'), clock, log: log.with({ component: 'store' }), signal });
  const { pki, onRenewed } = await startLivePki({ folder: join(home, 'pki'), clock, log, signal });
  const signingKey = await ensureSigningKey(join(home, 'pki'));
  const virtApi = new VirtApiEndpoint(clock);
  const metrics = new MetricFamilies();
  addProcessMetrics(metrics, { version: VERSION });
  const api = await startApi({ store, pki, signingKey, clock, log, virtApi, metricFamilies: metrics });
  const server = await listen({
    handle: api.handle,
    upgrade: api.upgrade,
    reviewToken: api.reviewToken,
    pki,
    port: options.port,
    ...(options.listener !== undefined && { listener: options.listener }),
    clock,
    log,
  });
  const components = await startComponents({
    home,
    api,
    metrics,
    virtApi,
    pki,
    onCertificatesRenewed: onRenewed,
    clock,
    log,
    signal,
    apiPort: server.port,
    network: options.network,
    nodes: options.nodes,
    clusterId: store.clusterId,
    runsControllers,
  });

  const writeAdmin = () =>
    writeKubeconfig(kubeconfigPath(home), { server: `https://127.0.0.1:${server.port}`, ca: pki.ca, ...pki.admin, name: 'kubevirt-ts' });
  await writeAdmin();
  onRenewed(() => {
    server.renew({ serving: pki.apiServer });
    writeAdmin().catch((error) => log.error('the kubeconfig cannot be written: virtctl down and up write it again', { error }));
  }, signal);
  const page = await servePage(options);
  const state: EmbeddedState = {
    process: identify(process.pid)!, // we run, so we can be identified
    port: server.port,
    ...(page && { pagePort: page.port }),
    startedAt: timestamp(clock.now()),
    version: VERSION,
    network: options.network,
    ...(!runsControllers && { isWithoutControllers: true }),
  };
  noteRelease(home, VERSION);
  writeFileSync(statePath(home), JSON.stringify(state), { mode: 0o600 });
  void runMemoryRelease({ clock, signal });
  log.info('the embedded cluster serves', { port: server.port, home });

  return { state, stopped: putAway() };

  async function putAway(): Promise<void> {
    await components.stopped;
    await page?.close();
    api.close(); // ends watches, which would keep connections open
    await allEnded({ server: server.close() }, { signal, clock, log });
    await keeping;
    store.close();
    rmSync(statePath(home), { force: true });
  }
}

/** A store that was refused leaves no mark: the one that belongs here may be put back. */
function adoptOrClose(store: Store, { home, adopt, log }: EmbeddedOptions): void {
  try {
    for (const guest of adoptGuests(store, { home, adopt }))
      log.warn('a guest runs that the store does not know', { guest: nameOfPod(guest) });
  } catch (error) {
    store.abandon();
    throw error;
  }
}

/** The disk failed under a commit: what was acknowledged is safe, nothing more can be. Guests run on. */
function endAtOnce(error: unknown, log: Logger): void {
  log.error('the store cannot be written any more', { error });
  process.exit(1);
}
