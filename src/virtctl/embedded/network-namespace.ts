/**
 * The network of the embedded cluster: a namespace of its own in which every Pod and Service address is a local one, with a way out
 * through pasta. Two small processes keep it while the cluster itself is away, so that guests that outlive it are found again: one that
 * only holds the namespace, and pasta, which carries the port of the web page to the loopback of the host. The API is served there by a socket that
 * was made outside, which the cluster is given.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import { join } from 'node:path';
import { CLUSTER_DNS_ADDRESS } from '../../api/core/cluster-dns.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf, UserError } from '../../base/errors.ts';
import { findProgram } from '../../base/node/find-program.ts';
import { type IdRange, podUserRangeOf, usersAround } from '../../base/node/pod-user-range.ts';
import {
  bootId,
  identifyChild,
  isSameProcess,
  type ProcessIdentity,
  sharesNetwork,
  signalProcess,
} from '../../base/node/process-identity.ts';
import { explainSystemError } from '../../base/node/system-error.ts';
import { type ClaimedPort, claimPort, type HeldPort, holdPort } from './claim-port.ts';
import { hasDefaultRoute } from './has-default-route.ts';
import { pastaArguments } from './pasta-arguments.ts';
import { guestsInNetwork, lastState } from './state.ts';
import { namespaceOfUsers } from './subordinate-users.ts';

export type Network = {
  readonly mode: 'namespace' | 'host';
  /** What a program is started through to be in it. */
  readonly prefix: readonly string[];
  readonly port: number;
  /** Listens at the port on the loopback of the host: for the cluster to take over, and then to be closed here. */
  readonly listener?: Server;
  /** For the web page; one of an earlier version has none, and on the network of the host any is as good. */
  readonly pagePort?: number;
  /** This call made it: only then it is this call's to close. */
  readonly isNew: boolean;
  /** Why it is the network of the host. */
  readonly why?: string;
};
type Kept = Ports & {
  readonly holder: ProcessIdentity;
  readonly pasta: ProcessIdentity;
  /** Not of an earlier version, whose pasta carries the port of the API, too. */
  readonly hasListener?: true;
};
type Ports = { readonly port: number; readonly pagePort?: number };
type NetworkOptions = {
  readonly home: string;
  readonly port: number;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  /** Somebody asked for the network of the host. */
  readonly isHostWanted?: boolean;
  readonly firstPagePort?: number;
};

/** What a network of the cluster's own needs. */
export const NETWORK_PROGRAMS: readonly string[] = ['pasta', 'unshare', 'nsenter', 'setsid', 'ip'];
const PATIENCE_MS = 5_000;
const FIRST_PAGE_PORT = 6500;
const POD_RANGE = '10.244.0.0/16';
const POD_ROUTE = `local ${POD_RANGE} dev lo`;
/** No Pod has it: the first address of a range is left out. */
const POD_GATEWAY = '10.244.0.1';
const NETWORK_FIX = 'apt-get install passt iproute2 util-linux; user namespaces and /dev/net/tun must be open to you';
/**
 * Makes the addresses of Pods and Services local, lets everybody inside listen on low ports and send pings (a group that the namespace does not
 * know cannot be named), and stays for as long as the data folder does: a cluster that somebody removed with `rm -r` leaves nothing behind for ever.
 */
const SET_UP = `
ip link set lo up && ip route add ${POD_ROUTE} && ip route add local 10.96.0.0/12 dev lo || exit 1
ip route add local default dev lo src ${CLUSTER_DNS_ADDRESS} table 53
echo 0 > /proc/sys/net/ipv4/ip_unprivileged_port_start || exit 1
{ echo '0 2147483647' || echo '0 0'; } 2> /dev/null > /proc/sys/net/ipv4/ping_group_range || true`;
/**
 * QEMU's user network asks the name server of the host's resolv.conf for its guests. What is sent there is kept here, where the name server of the
 * cluster hears it; also when the host moves to another network, and has another one.
 */
const KEEP_NAMES = `
names() {
  servers=$(sed -n 's/^nameserver[[:space:]]*\\([0-9][0-9.]*\\)$/\\1/p' /etc/resolv.conf | grep -v '^127\\.')
  [ "$servers" != "$known" ] || return 0
  known=$servers
  while ip rule del pref 53 2>/dev/null; do :; done
  for server in $servers; do ip rule add pref 53 to "$server" ipproto udp dport 53 lookup 53; done
}
known=; names 2>/dev/null`;
/** Services that tell a machine who it is (169.254.169.254) are for the host; pasta copies a route to them when the host has one. */
const CUT_LINK_LOCAL = `
set -- $(ip route show root 169.254.0.0/16)
[ "$*" = 'unreachable 169.254.0.0/16' ] ||
{ ip route flush root 169.254.0.0/16; ip route replace unreachable 169.254.0.0/16; }`;
/**
 * Who calls a Pod does so from the gateway of the Pods. Left to the kernel it would be from the address that is called, which is local here, and
 * the network of a container takes nothing from its own address.
 */
const NAME_SOURCE = `
ip route show table local ${POD_RANGE} | grep -qw 'src ${POD_GATEWAY}' || ip route replace ${POD_ROUTE} src ${POD_GATEWAY}`;
/** Routes are changed by who holds the namespace: of a user who is not root, nobody who enters later has the right to. */
const HOLD = `${KEEP_NAMES}
echo ready; read pasta
{ ${CUT_LINK_LOCAL}
} && { ${NAME_SOURCE}
} || { echo 'routes cannot be set' >&2; exit 1; }
echo connected; exec < /dev/null > /dev/null 2>&1
while [ -d "$0" ]; do sleep 5; names; done
kill "$pasta"`;

/**
 * The network of this data folder: that in which its guests live, else the one that is still there, else a new one. That of the host is never
 * taken by itself: what listens on its loopback would be a guest's to reach. Only one caller at a time: see launch.ts.
 */
export async function openNetwork({
  home,
  port,
  env,
  clock,
  isHostWanted = false,
  firstPagePort = FIRST_PAGE_PORT,
}: NetworkOptions): Promise<Network> {
  const guest = guestToJoin(home);
  const kept = keptNetwork(home);
  if (kept && (!guest || sharesNetwork(guest.pid, kept.holder.pid))) {
    runInside(kept.holder, NAME_SOURCE, 'Pods cannot be called from their gateway'); // one of an earlier version does not have it
    cutLoopback(kept.holder, podUserRangeOf(kept.holder.pid)); // nor this rule, and Pods in it that use the loopback
    return openKept(home, kept);
  }
  closeNetwork(home); // half of one, or one in which nobody lives
  const host = (why: string): Network => ({ mode: 'host', prefix: [], port, pagePort: 0, isNew: false, why });
  if (guest && sharesNetwork(guest.pid, process.pid)) return host('guests live there');
  const last = lastState(home);
  if (!guest && last?.network === 'host' && last.process.bootId === bootId())
    return host('the cluster before this one, whose guests may still run, used it');
  if (!guest && isHostWanted) return host('--host-network');
  if (!guest && env['KUBEVIRT_NETWORK'] === 'host') return host('KUBEVIRT_NETWORK=host');
  const missing = missingProgram();
  if (missing) throw noNamespace(`${missing} is not installed`);
  let api: HeldPort | undefined;
  let page: ClaimedPort | undefined;
  try {
    api = await holdPort(port);
    // Asked before pasta is, which says nothing when it is taken.
    page = await claimPort(firstPagePort).catch(() => undefined); // a cluster is one without its page, too
    const made = await createNetwork({ home, clock, port: api.port, pagePort: page?.port, join: guest });
    return { ...inNamespace(made, true), listener: api.listener };
  } catch (error) {
    api?.listener.close();
    closeNetwork(home);
    if (explainSystemError(error)) throw error; // no network would be any better
    throw noNamespace(messageOf(error), error);
  } finally {
    page?.release();
  }
}

/** Its port may be somebody else's by now. */
async function openKept(home: string, kept: Kept): Promise<Network> {
  if (!kept.hasListener) return inNamespace(kept, false);
  const { port, listener } = await holdPort(kept.port);
  keep(home, { ...kept, port });
  return { ...inNamespace({ ...kept, port }, false), listener };
}

/** One of the guests: those of the kept namespace first, for they need nothing. */
function guestToJoin(home: string): ProcessIdentity | undefined {
  const guests = guestsInNetwork(home);
  const holder = readKept(home)?.holder;
  return guests.find(({ pid }) => holder && sharesNetwork(pid, holder.pid)) ?? guests[0];
}

/** Ends what keeps the namespace; the namespace goes with the last guest in it. */
export function closeNetwork(home: string): void {
  const kept = readKept(home);
  if (kept?.holder) signalProcess(kept.holder, 'SIGTERM', 'group');
  if (kept?.pasta) signalProcess(kept.pasta, 'SIGTERM');
  rmSync(keptPath(home), { force: true });
  rmSync(pidPath(home), { force: true });
}

function inNamespace({ holder, port, pagePort }: Kept, isNew: boolean): Network {
  return { mode: 'namespace', prefix: ['nsenter', ...enter(holder.pid)], port, pagePort, isNew };
}

function enter(pid: number): string[] {
  return ['-t', String(pid), ...(isRoot() ? [] : ['-U', '--preserve-credentials']), '-n', '--'];
}

function keptPath(home: string): string {
  return join(home, 'run', 'network.json');
}

function pidPath(home: string): string {
  return join(home, 'run', 'pasta.pid');
}

/** Undefined when one of the two has ended: without pasta there is no way out. */
export function keptNetwork(home: string): Kept | undefined {
  const kept = readKept(home);
  return kept?.holder && kept.pasta && isSameProcess(kept.holder) && isSameProcess(kept.pasta) ? (kept as Kept) : undefined;
}

function readKept(home: string): Partial<Kept> | undefined {
  try {
    return JSON.parse(readFileSync(keptPath(home), 'utf8')) as Partial<Kept>;
  } catch {
    return undefined; // none, or the end of a disk that was full
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Looked for without starting anything: Ctrl+C would end that, too, and it would count as missing. */
function missingProgram(): string | undefined {
  return NETWORK_PROGRAMS.find((program) => !findProgram(program, process.env['PATH']));
}

function noNamespace(why: string, cause?: unknown): UserError {
  return new UserError('NETWORK_NAMESPACE_MISSING', 'the embedded cluster cannot have a network of its own', {
    why,
    fix: `${NETWORK_FIX}; or virtctl up --host-network, where guests have no way out and Services no addresses`,
    ...(cause !== undefined && { cause }),
  });
}

type Making = Ports & { readonly home: string; readonly clock: Clock };

/** With somebody to join, the namespace is theirs and has been set up already; only what keeps it and its way out are new. */
async function createNetwork({ join: guest, ...making }: Making & { readonly join: ProcessIdentity | undefined }): Promise<Kept> {
  const [program, ...args] = guest
    ? ['nsenter', ...enter(guest.pid), 'sh', '-c', HOLD]
    : ['unshare', ...namespaceOfUsers(making.home), '-n', '--', 'sh', '-c', SET_UP + HOLD];
  const holding = spawn(program, [...args, join(making.home, 'run')], { cwd: '/', detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  const holder = await identified(holding, program);
  try {
    return await connectNetwork({ ...making, holding, holder, isJoined: guest !== undefined });
  } catch (error) {
    signalProcess(holder, 'SIGTERM', 'group'); // also when there was no room to write down that it is ours
    for (const pipe of holding.stdio) pipe?.destroy();
    throw error;
  }
}

type Connecting = Making & { readonly holding: ChildProcess; readonly holder: ProcessIdentity; readonly isJoined: boolean };

async function connectNetwork({ home, port, pagePort, clock, holding, holder, isJoined }: Connecting): Promise<Kept> {
  keep(home, { holder });
  await said(holding, 'ready');
  const pasta = await startPasta({ home, port, pagePort, holder, clock });
  const kept: Kept = { holder, pasta, port, pagePort, hasListener: true };
  try {
    if (pagePort !== undefined) await untilAccepting(pagePort, clock);
    holding.stdin?.end(`${pasta.pid}\n`);
    await said(holding, 'connected');
    cutLoopback(holder, isJoined ? podUserRangeOf(holder.pid) : everybodyElse(holder));
    keep(home, kept);
  } catch (error) {
    signalProcess(pasta, 'SIGTERM');
    throw error;
  }
  holding.unref();
  return kept;
}

/**
 * The loopback is for our own components: a guest reaches the API server at the address of its Service, and virt-api and virt-handler not at all.
 * Guests are told by their users, so without such users they reach it. The rule has to come before the one that finds local addresses, which
 * is the first by default: it moves behind.
 */
function cutLoopback(holder: ProcessIdentity, range: IdRange | undefined): void {
  if (!range) return;
  const guests = `uidrange ${range.first}-${range.first + range.count - 1}`;
  const cut = `
if ! ip rule show pref 0 | grep -q local && ip rule show pref 10 | grep -q prohibit; then exit 0; fi
for pref in 10 20; do ip rule del pref $pref 2> /dev/null; done
ip rule add pref 20 lookup local && ip rule add pref 10 ${guests} to 127.0.0.0/8 prohibit && ip rule del pref 0`;
  runInside(holder, cut, 'the loopback cannot be closed to guests');
}

/** Whatever a Pod runs as: only our components are root there. */
function everybodyElse({ pid }: ProcessIdentity): IdRange | undefined {
  const range = podUserRangeOf(pid);
  return range && usersAround(range, pid);
}

/** In a session of its own: Ctrl+C in the terminal is for us to answer, and would end it halfway. */
function runInside({ pid }: ProcessIdentity, script: string, failure: string): void {
  const { status, stderr } = spawnSync('setsid', ['--wait', 'nsenter', ...enter(pid), 'sh', '-c', script], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${failure}: ${stderr.trim()}`);
}

/** Written at every step, so that whatever ends us leaves a trace of what it left behind. */
function keep(home: string, kept: Partial<Kept>): void {
  writeFileSync(keptPath(home), JSON.stringify(kept), { mode: 0o600 });
}

async function identified(child: ChildProcess, program: string): Promise<ProcessIdentity> {
  await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  const identity = child.pid === undefined ? undefined : identifyChild(child.pid);
  if (!identity) throw new Error(`${program} ended at once`);
  return identity;
}

/** Until it has said this word; that it ends is the answer when it cannot. */
function said(holding: ChildProcess, word: 'ready' | 'connected'): Promise<void> {
  return new Promise((resolve, reject) => {
    let errors = '';
    holding.stderr?.on('data', (chunk) => {
      errors += chunk;
    });
    holding.stdout?.on('data', (chunk) => {
      if (String(chunk).includes(word)) resolve();
    });
    holding.once('exit', () => reject(new Error(`no network namespace can be made: ${errors.trim().split('\n')[0]}`)));
  });
}

/**
 * The namespaces are handed over as open files: pasta gives up the right to look into processes before it looks. It has begun to
 * serve when it writes its pid.
 */
async function startPasta({ home, pagePort, holder, clock }: Making & { readonly holder: ProcessIdentity }): Promise<ProcessIdentity> {
  const network = openSync(`/proc/${holder.pid}/ns/net`, 'r');
  const user = openSync(`/proc/${holder.pid}/ns/user`, 'r');
  const child = spawn(
    'pasta',
    [
      ...pastaArguments({ pagePort, isInNetwork: hasDefaultRoute() }),
      ...(isRoot() ? ['--runas', '0'] : ['--userns', '/proc/self/fd/4']),
      '-P',
      pidPath(home),
    ],
    {
      cwd: '/',
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe', network, user],
    },
  );
  closeSync(network);
  closeSync(user);
  let said = '';
  child.stderr?.on('data', (chunk) => {
    said += chunk;
  });
  const pasta = await identified(child, 'pasta');
  try {
    keep(home, { holder, pasta });
    const deadline = clock.steady() + PATIENCE_MS;
    while (readPid(home) !== pasta.pid) {
      if (child.exitCode !== null || clock.steady() > deadline) throw new Error(`pasta cannot serve: ${pastaReason(said)}`);
      await clock.sleep(5);
    }
  } catch (error) {
    signalProcess(pasta, 'SIGTERM');
    throw error;
  } finally {
    child.stderr?.destroy();
    child.unref();
  }
  return pasta;
}

function readPid(home: string): number | undefined {
  try {
    return Number(readFileSync(pidPath(home), 'utf8'));
  } catch {
    return undefined; // not yet
  }
}

function pastaReason(said: string): string {
  return said.split('\n').find((line) => line.trim() !== '' && !line.includes('syslog')) ?? 'it does not say why';
}

/** pasta writes its pid before it listens, and goes on in silence when it cannot. */
async function untilAccepting(port: number, clock: Clock): Promise<void> {
  for (const deadline = clock.steady() + PATIENCE_MS; !(await accepts(port)); await clock.sleep(5))
    if (clock.steady() > deadline) throw new Error(`pasta does not listen on port ${port}`);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const answer = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once('connect', () => answer(true));
    socket.once('error', () => answer(false));
  });
}
