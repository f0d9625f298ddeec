/**
 * What the containers of one Pod share: a user namespace, a network with the address of the Pod, and the means to talk to each other. A
 * process that only sleeps holds it, so it outlives every container and us; slirp4netns is its way out and, for ports that somebody listens
 * on, the way in. Both are found again by a later kubelet through the file that is written here.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../../base/errors.ts';
import { writeFileDurablySync } from '../../../base/node/durable-file.ts';
import { firstProcessesOf, readSandbox, SANDBOX_FILE, type Sandbox } from '../../../base/node/pod-sandbox.ts';
import { identifyChild, isSameProcess, type ProcessIdentity, signalProcess } from '../../../base/node/process-identity.ts';
import { SANDBOX_VARIABLE } from '../../../base/node/sandbox-path.ts';
import { timeoutSignal } from '../../../base/timeout-signal.ts';
import { enterUser, type IdMapping, writeIdMapping } from './id-mapping.ts';
import { addressInside, SLIRP_SOCKET } from './slirp-control.ts';
import { whyNoNetwork } from './why-no-network.ts';

/** Containers cannot run here, or not as the Pod wants them. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
}

export type SandboxOptions = {
  readonly dir: string;
  readonly podIP: string;
  readonly mapping: IdMapping;
  /** All containers of the Pod are in one process namespace. */
  readonly sharesProcesses: boolean;
  readonly signal: AbortSignal;
};

/** The name server that slirp4netns offers to every Pod, which asks those of the machine. */
export const SLIRP_NAME_SERVER = '10.0.2.3';
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const PATIENCE_MS = 10_000;
const HOLD = 'echo ready; read go; exec $0 < /dev/null > /dev/null 2>&1';
const SLEEP = 'sleep infinity';
/** Becomes the parent of what containers leave behind, which the kernel then does not keep as zombies. */
const SLEEP_AS_INIT = 'env --ignore-signal=CHLD sleep infinity';

/** The sandbox that is there, else a new one; where only the way out has ended, that alone is made anew. */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { dir } = options;
  const found = findSandbox(dir);
  if (found) return found;
  const signal = AbortSignal.any([options.signal, timeoutSignal(PATIENCE_MS)]);
  const kept = readSandbox(dir)?.holder;
  const isKept = kept !== undefined && isSameProcess(kept);
  if (!isKept) closeSandbox(dir);
  const holder = isKept ? kept : await startHolder(options, signal);
  const started: ProcessIdentity[] = isKept ? [] : [holder];
  try {
    rmSync(join(dir, SLIRP_SOCKET), { force: true });
    const slirp = await startSlirp({ ...options, holder }, signal);
    started.push(slirp);
    if (addressInside(options.podIP) === options.podIP) await addAddress({ ...options, holder }, signal);
    const sandbox: Sandbox = { holder, slirp, network: readlinkSync(`/proc/${holder.pid}/ns/net`) };
    writeFileDurablySync(join(dir, SANDBOX_FILE), JSON.stringify(sandbox));
    return sandbox;
  } catch (error) {
    for (const each of started) signalProcess(each, 'SIGKILL', 'group');
    options.signal.throwIfAborted();
    throw error instanceof SandboxError ? error : new SandboxError(messageOf(error), { cause: error });
  }
}

/** The sandbox of a Pod, while it is whole. */
export function findSandbox(dir: string): Sandbox | undefined {
  const record = readSandbox(dir);
  return record?.holder && record.slirp && isSameProcess(record.holder) && isSameProcess(record.slirp) ? (record as Sandbox) : undefined;
}

/** Ends what runs in it and what holds it. The containers first: without the record of their network nobody would know them again. */
export function closeSandbox(dir: string): void {
  for (const { process } of firstProcessesOf(dir)) signalProcess(process, 'SIGKILL');
  const record = readSandbox(dir);
  if (record?.slirp) signalProcess(record.slirp, 'SIGKILL');
  if (record?.holder) signalProcess(record.holder, 'SIGKILL', 'group');
  for (const name of [join(dir, SANDBOX_FILE), join(dir, SLIRP_SOCKET)]) rmSync(name, { force: true });
}

/** Where the process namespace is that the containers of a Pod share. */
export function sharedProcesses({ holder }: Pick<Sandbox, 'holder'>): string {
  return `/proc/${holder.pid}/ns/pid_for_children`;
}

/** How a program is started inside: as its root, in its network. */
export function enterSandbox({ holder }: Pick<Sandbox, 'holder'>, mapping: IdMapping): string[] {
  return ['nsenter', '-t', String(holder.pid), ...enterUser(mapping), '-n', '-i', '--'];
}

/** What our programs around a container need of an environment; the variable tells whose they are. */
export function sandboxEnvironment(dir: string, name: string): Record<string, string> {
  return { PATH, LC_ALL: 'C', [SANDBOX_VARIABLE]: join(dir, 'root', name) };
}

async function startHolder({ dir, mapping, sharesProcesses }: SandboxOptions, signal: AbortSignal): Promise<ProcessIdentity> {
  const processes = sharesProcesses ? ['-p', '--fork', '--kill-child'] : [];
  const words = ['-U', '-n', '-i', ...processes, '--', 'sh', '-c', HOLD, sharesProcesses ? SLEEP_AS_INIT : SLEEP];
  const child = spawn('unshare', words, {
    cwd: '/',
    detached: true,
    env: sandboxEnvironment(dir, '.sandbox'),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const holder = await identified(child, 'unshare');
  try {
    await said(child, { what: 'no user namespace can be made', from: 'stdout', signal });
    writeIdMapping(holder.pid, mapping);
    child.stdin?.end('go\n');
    return holder;
  } catch (error) {
    signalProcess(holder, 'SIGKILL', 'group');
    throw error;
  } finally {
    child.stdout?.destroy();
    child.stderr?.destroy();
    child.unref();
  }
}

type InSandbox = SandboxOptions & { readonly holder: ProcessIdentity };

async function startSlirp({ dir, holder }: InSandbox, signal: AbortSignal): Promise<ProcessIdentity> {
  const of = (kind: string) => `/proc/${holder.pid}/ns/${kind}`;
  const child = spawn(
    'slirp4netns',
    [
      ...['--configure', '--mtu=65520', '--disable-host-loopback', '--enable-seccomp', '--ready-fd=3', `--api-socket=${SLIRP_SOCKET}`],
      ...[`--userns-path=${of('user')}`, '--netns-type=path', of('net'), 'tap0'],
    ],
    { cwd: dir, detached: true, env: sandboxEnvironment(dir, '.network'), stdio: ['ignore', 'ignore', 'pipe', 'pipe'] },
  );
  const slirp = await identified(child, 'slirp4netns');
  try {
    await said(child, { what: 'the Pod cannot have a network', from: 3, signal });
    return slirp;
  } catch (error) {
    signalProcess(slirp, 'SIGKILL');
    throw error;
  } finally {
    child.stderr?.destroy();
    const ready = child.stdio[3];
    if (ready && 'destroy' in ready) ready.destroy();
    child.unref();
  }
}

/** Besides the address that slirp4netns knows, the Pod has its own: it is what others call it, and what it may listen on. */
async function addAddress({ podIP, mapping, holder, dir }: InSandbox, signal: AbortSignal): Promise<void> {
  const [program = '', ...args] = [...enterSandbox({ holder }, mapping), 'ip', 'address', 'replace', `${podIP}/32`, 'dev', 'tap0'];
  const child = spawn(program, args, { cwd: '/', env: sandboxEnvironment(dir, '.network'), stdio: ['ignore', 'ignore', 'pipe'], signal });
  let text = '';
  child.stderr.on('data', (chunk) => {
    text = `${text}${chunk}`.slice(0, 1000);
  });
  const code = await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject));
  if (code !== 0) throw new SandboxError(`the Pod cannot have its address ${podIP}: ${text.trim()}`);
}

async function identified(child: ChildProcess, program: string): Promise<ProcessIdentity> {
  await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  child.on('error', () => {}); // a signal that could not be sent: seen by whoever sent it
  const identity = child.pid === undefined ? undefined : identifyChild(child.pid);
  if (!identity) throw new SandboxError(`${program} ended at once`);
  return identity;
}

/** Resolves with its first word; what it says on its way out becomes the reason. */
function said(child: ChildProcess, { what, from, signal }: { what: string; from: 'stdout' | 3; signal: AbortSignal }): Promise<void> {
  return new Promise((resolve, reject) => {
    let complaint = '';
    const fail = (why: string) => reject(new SandboxError(`${what}: ${why}`));
    child.stderr?.on('data', (chunk) => {
      complaint = `${complaint}${chunk}`.slice(0, 1000);
    });
    const source = from === 'stdout' ? child.stdout : child.stdio[3];
    source?.once('data', () => resolve());
    child.once('exit', () => fail(whyNoNetwork(complaint)));
    signal.addEventListener('abort', () => fail('it takes too long'), { once: true });
  });
}
