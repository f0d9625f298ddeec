/** Looks at this machine. No opinions: what the facts mean is in decide.ts. */
import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { freemem, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { humanDuration } from '../../base/duration.ts';
import { messageOf, UserError } from '../../base/errors.ts';
import { tryCgroups } from '../../base/node/cgroups.ts';
import { processLimit } from '../../base/node/container-limits.ts';
import { missingContainerPrograms } from '../../base/node/container-programs.ts';
import { findProgram } from '../../base/node/find-program.ts';
import { whyNotIsolated } from '../../base/node/isolated-command.ts';
import { livingPods, nameOfPod } from '../../base/node/living-pods.ts';
import { podUserRange, podUserRangeOf } from '../../base/node/pod-user-range.ts';
import { sharesNetwork } from '../../base/node/process-identity.ts';
import { timeoutSignal } from '../../base/timeout-signal.ts';
import { kubeconfigPath } from '../../client/node/find-kubeconfig.ts';
import { loadKubeconfig } from '../../client/node/kubeconfig.ts';
import { openImageStore } from '../../images/store.ts';
import { chooseAcceleration } from '../../qemu/accelerator.ts';
import { findQemu } from '../../qemu/find-qemu.ts';
import { findVirtiofsd } from '../../qemu/find-virtiofsd.ts';
import { qemuVersion } from '../../qemu/qemu-version.ts';
import type { Deps } from '../deps.ts';
import { hasDefaultRoute } from '../embedded/has-default-route.ts';
import { keptNetwork, NETWORK_PROGRAMS } from '../embedded/network-namespace.ts';
import { restartsOf, times } from '../embedded/restarts.ts';
import { lastState, runningState } from '../embedded/state.ts';
import { whyNoUsers } from '../embedded/subordinate-users.ts';
import { unknownGuests } from '../embedded/unknown-guests.ts';
import type { Facts, Found } from './decide.ts';

const PORT = 6443;
const DEMO_IMAGE = 'localhost/guests/tiny:latest';
const API_PATIENCE_MS = 5_000;

/** What is needed to look. */
export type HostDeps = Pick<Deps, 'home' | 'cache' | 'env' | 'clock' | 'guests' | 'connect'>;

export async function observeHost(deps: HostDeps): Promise<Facts> {
  const { home, cache, env, clock } = deps;
  const noGuestUsers = whyNoGuestUsers(home);
  return {
    now: clock.now(),
    nodeVersion: process.version,
    qemu: attempt(() => {
      const path = findQemu(env);
      return { path, version: qemuVersion(path) };
    }),
    acceleration: attempt(() => chooseAcceleration(env)),
    isInNetwork: hasDefaultRoute(),
    isOnHostNetwork: runningState(home)?.network === 'host',
    isCutOff: runningState(home)?.network === 'namespace' && !keptNetwork(home),
    missingNetworkPrograms: NETWORK_PROGRAMS.filter((program) => !findProgram(program, env['PATH'])),
    userNamespaces: userNamespaces(),
    missingContainerPrograms: missingContainerPrograms(env['PATH']),
    cgroups: tryCgroups(),
    processLimit: processLimit(),
    whyNoGuestUsers: noGuestUsers,
    whyNotIsolated: await whyNotIsolated(),
    virtiofsd: findVirtiofsd(),
    isImageStoreApart: !noGuestUsers && deviceOf(join(home, 'images')) !== deviceOf(join(home, 'kubelet')),
    homeFolder: home,
    homeFreeBytes: freeBytesAt(home),
    cacheFolder: cache,
    cacheFreeBytes: freeBytesAt(cache),
    availableMemoryBytes: availableMemoryBytes(),
    memoryBytes: totalmem(),
    port: { number: PORT, isFree: await isFree(PORT) },
    homePermissions: permissionsOf(home),
    demoImage: demoImage(deps),
    cluster: clusterOf(home, clock.now()),
    restarts: restartsText(home),
    api: await askApi(deps),
    certificateEndsAt: certificateEndOf(home),
    unknownGuests: unknownGuests(home).map(nameOfPod),
    guestsElsewhere: guestsElsewhere(home),
  };
}

/** A UserError says what is missing; anything else that is thrown says it less well. */
function attempt<T>(look: () => T): Found<T> {
  try {
    return look();
  } catch (error) {
    const { why, fix } = error instanceof UserError ? error : { why: undefined, fix: undefined };
    return { missing: why ? `${messageOf(error)}: ${why}` : messageOf(error), ...(fix && { fix }) };
  }
}

function userNamespaces(): Facts['userNamespaces'] {
  if (process.getuid?.() === 0) return { text: 'not needed: this is root' };
  const { status, stderr, error } = spawnSync('unshare', ['-U', '-n', 'true'], { encoding: 'utf8', timeout: 5_000 });
  if (status === 0) return { text: 'users may make them' };
  return {
    missing: `users may not make them: ${(error?.message ?? stderr ?? '').trim()}`,
    fix: 'sudo sysctl kernel.unprivileged_userns_clone=1, or on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0',
  };
}

/** Those of the cluster that runs; else those that one would have. */
function whyNoGuestUsers(home: string): Facts['whyNoGuestUsers'] {
  const running = runningState(home);
  const has = running?.network === 'namespace' ? podUserRangeOf(running.process.pid) !== undefined : podUserRange() !== undefined;
  if (has) return undefined;
  if (process.getuid?.() === 0) return { why: 'this container has too few users', fix: 'give it 65536 or more' };
  const missing = whyNoUsers();
  if (missing || !running) return missing;
  return { why: 'the cluster was started without them', fix: 'virtctl down, then virtctl up' };
}

/** Images are hard-linked into the folders of Pods, where the user of a guest can open them. */
function deviceOf(folder: string): number {
  return statSync(existsSync(folder) || dirname(folder) === folder ? folder : dirname(folder), { throwIfNoEntry: false })?.dev ?? 0;
}

/** A folder that is not there yet will be made on the disk of the first parent that is. */
function freeBytesAt(folder: string): number {
  if (!existsSync(folder) && dirname(folder) !== folder) return freeBytesAt(dirname(folder));
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function availableMemoryBytes(): number {
  try {
    const kilobytes = /^MemAvailable:\s+(\d+) kB/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1];
    return kilobytes ? Number(kilobytes) * 1024 : freemem();
  } catch {
    return freemem(); // no /proc: what is free is a lower bound
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

function permissionsOf(home: string): Facts['homePermissions'] {
  if (!existsSync(home)) return undefined;
  const { mode, uid } = statSync(home);
  return { isOurs: uid === process.getuid?.(), isWritableByOthers: (mode & 0o022) !== 0 };
}

function demoImage({ home, cache, guests }: HostDeps): string | undefined {
  const images = join(home, 'images');
  if (existsSync(images) && openImageStore(images).resolve(DEMO_IMAGE)) return `${DEMO_IMAGE}, imported`;
  const folders = [join(cache, 'guests'), ...(guests === undefined ? [] : [guests])].filter((folder) => existsSync(folder));
  const isBuilt = folders.some((folder) => readdirSync(folder).some((name) => name.startsWith('tiny-')));
  return isBuilt ? `${DEMO_IMAGE}, imported by virtctl up` : undefined;
}

function clusterOf(home: string, now: number): Facts['cluster'] {
  const running = runningState(home);
  if (running) {
    const age = humanDuration(now - Date.parse(running.startedAt));
    return { state: 'running', text: `running for ${age}, process ${running.process.pid}` };
  }
  return lastState(home)
    ? { state: 'killed', text: 'was killed; guests may still run, and are found again by the next start' }
    : { state: 'stopped', text: 'none runs with this data folder' };
}

function restartsText(home: string): string | undefined {
  const restarts = restartsOf(home);
  return restarts && `it ended unexpectedly and was started again ${times(restarts.count)}, the last time because: ${restarts.because}`;
}

function guestsElsewhere(home: string): readonly string[] {
  const { process: cluster } = runningState(home) ?? {};
  if (!cluster) return [];
  return livingPods(home)
    .filter(({ containers }) => containers.some(({ process, isInside }) => !isInside && !sharesNetwork(process.pid, cluster.pid)))
    .map(nameOfPod);
}

async function askApi({ home, connect }: HostDeps): Promise<Facts['api']> {
  if (!runningState(home)) return undefined;
  try {
    const { client, server } = await connect({ kubeconfig: kubeconfigPath(home) });
    const started = performance.now();
    const response = await client.request('/apis/kubevirt.io/v1/virtualmachines?limit=1', { signal: timeoutSignal(API_PATIENCE_MS) });
    await response.arrayBuffer(); // a body that nobody reads keeps the connection, and with it this program
    return { text: `${server} answered in ${Math.round(performance.now() - started)} ms` };
  } catch (error) {
    return { missing: messageOf(error), fix: 'virtctl logs --system --tail 20' };
  }
}

function certificateEndOf(home: string): number | undefined {
  const path = kubeconfigPath(home);
  const certificate = existsSync(path) ? loadKubeconfig(path).cert : undefined;
  return certificate ? Date.parse(new X509Certificate(certificate).validTo) : undefined;
}
