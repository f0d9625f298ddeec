/** Starts the embedded cluster as a process of its own and waits until it serves. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import type { Server } from 'node:net';
import { dirname, join } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { UserError } from '../../base/errors.ts';
import { withFileLock } from '../../base/node/file-lock.ts';
import { cacheFolder } from '../../base/node/folders.ts';
import { identifyChild, signalProcess } from '../../base/node/process-identity.ts';
import type { Deps } from '../deps.ts';
import { closeNetwork, type Network, openNetwork } from './network-namespace.ts';
import { logPath, startLockPath, statePath } from './paths.ts';
import { type EmbeddedState, guestsOf, runningState } from './state.ts';
import { stopProcess } from './stop-process.ts';
import { putBackWhatWasSetAside, storePath } from './store-file.ts';
import { ASK_AGAIN_MS, endSupervisor, keepSupervisor, supervised } from './supervisor.ts';

/**
 * Less resident memory. The young generation is small: 20 MiB less than the usual one; half of it again would save 8 MiB more, and take a fifth more CPU time of many
 * machines. The old one is collected when it has grown by half: V8 would let it grow to four times of what is in use while it has much to do.
 */
export const NODE_FLAGS = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=8', '--heap-growing-percent=50'];
/** One heap for all threads of the C library: those of Node rarely allocate, and each kept 64 MiB of addresses with a few MiB in them. */
export const LESS_MEMORY = { MALLOC_ARENA_MAX: '1' };
/**
 * Threads for what waits for a disk. There are 4 of them usually, and the store's sync stood in one queue with the writes, syncs and removals of tenants' data: of those
 * that may take long fewer are under way at once than there are threads.
 */
const DISK_THREADS = { UV_THREADPOOL_SIZE: '12' };

/** The descriptor as which it is given the socket of the API. */
const LISTENER = 4;
const OTHER_PATIENCE_MS = 20_000;

/** What the embedded process reports once: that it serves, or why it cannot. */
export type EmbeddedReport =
  | { readonly ready: EmbeddedState }
  | {
      readonly failed: {
        readonly code: string;
        readonly message: string;
        readonly why?: string;
        readonly fix?: string;
        readonly exitCode: number;
      };
    };

export type LaunchOptions = {
  readonly port: number;
  readonly nodes: number;
  readonly adopt?: boolean;
  /** The API alone, so that what ends controllers can be deleted. */
  readonly isWithoutControllers?: boolean;
  readonly isHostNetwork?: boolean;
  /** Told when another call is starting or stopping the cluster. */
  readonly onWaiting?: () => void;
  readonly signal?: AbortSignal;
};
/** Without a network when the cluster was running already. */
export type Launched = { readonly state: EmbeddedState; readonly network?: Network };
type Launcher = Pick<Deps, 'home' | 'env' | 'embeddedProgram'>;

/**
 * Returns when the cluster serves; throws what it said when it could not start. It goes on when we end; aborting before ends it. Of several
 * calls at once the first starts it, the others wait and find it running.
 */
export async function launchEmbedded(context: Launcher, options: LaunchOptions): Promise<Launched> {
  const { home } = context;
  for (const path of [logPath(home), statePath(home)]) mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  chmodSync(home, 0o711); // QEMU's own user walks through to its files; nobody may list
  return whileNobodyElseStarts({ ...options, home }, async () => {
    const state = runningState(home);
    // With controllers or without: guests are not touched by the change, and are adopted by the next process.
    if (state && (state.isWithoutControllers ?? false) === (options.isWithoutControllers ?? false)) return { state };
    if (state) await stopProcess(state.process, systemClock);
    return launch(context, options);
  });
}

/** What changes whether a cluster runs on this folder is done by one process at a time. */
export function whileNobodyElseStarts<Result>(
  { home, onWaiting, signal }: { readonly home: string; readonly onWaiting?: () => void; readonly signal?: AbortSignal },
  work: () => Promise<Result>,
): Promise<Result> {
  return withFileLock({ path: startLockPath(home), clock: systemClock, onWaiting, signal }, work);
}

async function launch(context: Launcher, options: LaunchOptions): Promise<Launched> {
  const { home } = context;
  const log = logPath(home);
  const output = openSync(log, 'a', 0o600); // before there is anything that somebody would have to put away
  const { network, child } = await spawnInNetwork(context, options, output).finally(() => closeSync(output));
  const report = await reportOf(child, { home, log, signal: options.signal }).catch((error: unknown) => ({ error }));
  // We made it, nobody lives there, and nobody else would put it away. Whatever was there before is not ours to close.
  if (!('ready' in report) && network.isNew && guestsOf(home).length === 0) closeNetwork(home);
  if ('error' in report) throw report.error;
  child.removeAllListeners('exit');
  if (child.connected) child.disconnect();
  child.unref();
  if ('ready' in report) return { state: report.ready, network };
  const { code, message, ...rest } = report.failed;
  const other = code === 'STORE_LOCKED' ? await untilRunning(home) : undefined;
  if (other) return { state: other };
  throw new UserError(code, message, rest);
}

/** The cluster under its supervisor, whose words go to `output`. */
async function spawnInNetwork(
  context: Launcher,
  options: LaunchOptions,
  output: number,
): Promise<{ readonly network: Network; readonly child: ChildProcess }> {
  const { home } = context;
  await endSupervisor(home, systemClock);
  putBackWhatWasSetAside(storePath(home));
  const network = await openNetwork({
    home,
    port: options.port,
    env: context.env,
    clock: systemClock,
    isHostWanted: options.isHostNetwork,
  });
  const settings = ['--home', home, '--port', String(network.port), '--network', network.mode, '--nodes', String(options.nodes)];
  if (network.pagePort !== undefined) settings.push('--page-port', String(network.pagePort));
  const listener = network.listener && descriptorOf(network.listener);
  if (listener !== undefined) settings.push('--listener', String(LISTENER));
  if (options.adopt) settings.push('--adopt');
  if (options.isWithoutControllers) settings.push('--without-controllers');
  const node = [process.execPath, ...NODE_FLAGS, context.embeddedProgram];
  const hostCommand = network.mode === 'namespace' ? [...node, '--home', home, '--host-ports'] : [];
  const [program = '', ...args] = supervised({ home, command: [...network.prefix, ...node, ...settings], hostCommand });
  const child = spawn(program, args, {
    cwd: home,
    env: { ...process.env, ...LESS_MEMORY, ...DISK_THREADS, NODE_COMPILE_CACHE: join(cacheFolder(context.env), 'compile') }, // from its first file on
    detached: true,
    stdio: ['ignore', output, output, 'ipc', listener ?? 'ignore'],
  });
  network.listener?.close();
  return { network, child };
}

/** Node.js has no other way to hand a socket that listens to a program that is not Node.js, as our supervisor. */
function descriptorOf(listener: Server): number | undefined {
  return (listener as { _handle?: { readonly fd: number } })._handle?.fd;
}

/** Whoever started a cluster may have been killed before it served: the cluster goes on starting. */
async function untilRunning(home: string): Promise<EmbeddedState | undefined> {
  for (const deadline = systemClock.steady() + OTHER_PATIENCE_MS; systemClock.steady() < deadline; await systemClock.sleep(100)) {
    const state = runningState(home);
    if (state) return state;
  }
  return undefined;
}

type Reporting = { readonly home: string; readonly log: string; readonly signal: AbortSignal | undefined };

async function reportOf(child: ChildProcess, { home, log, signal }: Reporting): Promise<EmbeddedReport> {
  const ending = new AbortController();
  keepOrEnd(child, home);
  try {
    return await new Promise((resolve, reject) => {
      const end = () => void askToEnd(child, ending.signal);
      if (signal?.aborted) end();
      else signal?.addEventListener('abort', end, { once: true, signal: ending.signal });
      child.on('message', (message) => {
        if (!signal?.aborted) resolve(message as EmbeddedReport); // the one message that our own program sends
      });
      child.once('error', reject);
      child.once('exit', (code, by) => reject(signal?.aborted ? interrupted() : diedEarly(code ?? by, log)));
    });
  } finally {
    ending.abort();
  }
}

/** Where there is no room to write down that it is ours, nobody would find it again. */
function keepOrEnd({ pid }: ChildProcess, home: string): void {
  const supervisor = pid === undefined ? undefined : identifyChild(pid);
  if (!supervisor) return; // it could not be started, which is told as an event
  try {
    keepSupervisor(home, supervisor);
  } catch (error) {
    signalProcess(supervisor, 'SIGKILL', 'group');
    throw error;
  }
}

/** Until it has ended: see supervisor.ts. */
async function askToEnd(child: ChildProcess, ended: AbortSignal): Promise<void> {
  for (; !ended.aborted; await systemClock.sleep(ASK_AGAIN_MS, ended)) child.kill('SIGTERM');
}

function interrupted(): UserError {
  return new UserError('INTERRUPTED', 'interrupted before the embedded cluster served; it was stopped', {
    fix: 'virtctl up starts it again',
    exitCode: 130,
  });
}

function diedEarly(code: number | string | null, log: string): UserError {
  return new UserError('EMBEDDED_DIED', `the embedded cluster ended before it served anything (${code})`, {
    why: `its log is ${log}`,
    fix: `look at the last lines: tail ${log}; where an object ends the cluster, virtctl up --without-controllers serves the API alone, so that it can be deleted`,
  });
}
