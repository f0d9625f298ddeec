/**
 * Makes the process of one container. It gets a session of its own, so that it outlives us and can be signalled as a
 * group, and it can be found by its CONTAINER_SANDBOX_MOUNT_POINT even when we die before its pid is written down.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Container, Pod } from '../../api/core/pod.ts';
import { RUN_AS_VARIABLES } from '../../api/launcher/variables.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import { findByVariable, identifyChild, type ProcessIdentity, signalProcess } from '../../base/node/process-identity.ts';
import { SANDBOX_VARIABLE } from '../../base/node/sandbox-path.ts';
import { type BuiltInImage, checkProgram, checkVariables } from './built-in-images.ts';
import { argumentsOf, environmentOf } from './environment.ts';
import { containerLogPath } from './log-files.ts';
import { containerDir, makeFolder, sandboxDir } from './pod-folder.ts';
import { type MayBecome, type RunAs, requestedUser } from './privileges.ts';

const SWEEP_TRIES = 50;
const SWEEP_PAUSE_MS = 20;

export type StartOptions = {
  readonly pod: Pod;
  readonly container: Container;
  readonly image: BuiltInImage;
  readonly dir: string;
  readonly restartCount: number;
  readonly podIP: string;
  readonly hostIP: string;
  readonly apiServerUrl: string | undefined;
  readonly mayBecome: MayBecome;
  /** Whom the Pod runs as on this host, whatever its spec asks for. */
  readonly user: RunAs | undefined;
};

/** Everything that decides how a process is made; computed first, so that a mistake in the spec makes no process. */
export type Launch = {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly logFile: string;
  readonly runAs?: RunAs;
};

const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Reads the spec; throws Invalid for what cannot be started as written. */
export function planLaunch(options: StartOptions): Launch {
  const { pod, container, image, dir, restartCount, podIP, hostIP, mayBecome } = options;
  const sandbox = sandboxDir(dir, container.name);
  const asked = requestedUser(pod, container, options.user?.uid);
  const becomes = options.user ?? (asked && mayBecome(asked.uid) ? asked : undefined);
  const dropsItself = becomes !== undefined && image.dropsPrivileges === true;
  if (image.dropsPrivileges) checkVariables((container.env ?? []).map(({ name }) => name));

  const inherited = {
    PATH: `${image.path}:${SYSTEM_PATH}`,
    HOSTNAME: pod.spec.hostname ?? pod.metadata.name,
    ...apiServer(options),
    ...image.env,
  };
  const env = {
    ...environmentOf(container, { pod, podIP, hostIP }, inherited),
    // last, so that no Pod can take them over
    [SANDBOX_VARIABLE]: sandbox,
    ...(dropsItself && runAsVariables(becomes)),
  };
  const command = container.command?.length ? container.command : image.entrypoint ? [image.entrypoint] : [];
  const [program, ...args] = argumentsOf([...command, ...(container.args ?? [])], env);
  if (program === undefined || command.length === 0) throw new ApiError('Invalid', 'no command specified');
  checkProgram(image, program);
  return {
    program: join(image.path, program),
    args,
    env,
    cwd: workingDir(sandbox, container.workingDir),
    logFile: containerLogPath(dir, container.name, restartCount),
    ...(becomes && !dropsItself && { runAs: becomes }),
  };
}

function runAsVariables({ uid, gid, groups = [] }: RunAs): Record<string, string> {
  return { [RUN_AS_VARIABLES.user]: `${uid}`, [RUN_AS_VARIABLES.group]: `${gid}`, [RUN_AS_VARIABLES.groups]: groups.join(',') };
}

/** Starts it; the answer is there before anybody else gets a turn, so that it can be written down at once. */
export function launch({ program, args, env, cwd, logFile, runAs }: Launch): {
  child: ChildProcess;
  identity: ProcessIdentity | undefined;
} {
  const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;
  const log = openSync(logFile, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o640);
  try {
    const [command = '', ...rest] = [...becoming(runAs), program, ...args];
    const { uid, gid, groups } = runAs ?? {};
    const as = uid !== undefined && !groups?.length ? { uid, gid } : {};
    const child = spawn(command, rest, { cwd, env, detached: true, stdio: ['ignore', log, log], ...as });
    child.unref(); // we may end while it runs
    return { child, identity: child.pid === undefined ? undefined : identifyChild(child.pid) };
  } finally {
    closeSync(log);
  }
}

/** Node gives a child no other groups than its own, so where there are others a program of the system does it, which then becomes the one that is meant. */
function becoming(runAs: RunAs | undefined): string[] {
  if (!runAs?.groups?.length) return [];
  return ['/usr/bin/setpriv', '--reuid', `${runAs.uid}`, '--regid', `${runAs.gid}`, '--groups', runAs.groups.join(','), '--'];
}

/** Memory that runs out is taken from containers before it is taken from us; what they start inherits it. */
export function setOomScore(pid: number, score: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, String(score));
  } catch {
    // it has ended already, or this kernel does not let us
  }
}

/** The folder for state and logs, and the place the process starts in. */
export async function makeContainerFolders(dir: string, container: string): Promise<void> {
  await makeFolder(containerDir(dir, container), 0o711);
  await makeFolder(sandboxDir(dir, container), 0o755);
}

/** Processes of the Pod with this folder, or of one container of it, that run now. */
export function findProcesses(dir: string, container?: string): ProcessIdentity[] {
  const sandbox = container === undefined ? undefined : sandboxDir(dir, container);
  return findByVariable(SANDBOX_VARIABLE, (value) => (sandbox === undefined ? value.startsWith(`${dir}/`) : value === sandbox));
}

function apiServer({ apiServerUrl }: StartOptions): Record<string, string> {
  if (!apiServerUrl) return {};
  const { hostname, port, protocol } = new URL(apiServerUrl);
  return { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port || (protocol === 'http:' ? '80' : '443') };
}

/** A folder below a mount is meant as the container sees it; anything else is a folder of the host. */
function workingDir(sandbox: string, wanted: string | undefined): string {
  if (!wanted) return sandbox;
  if (!wanted.startsWith('/') || wanted.split('/').includes('..'))
    throw new ApiError('Invalid', `workingDir ${JSON.stringify(wanted)} is not absolute`);
  const mounted = join(sandbox, wanted);
  if (existsSync(mounted)) return mounted;
  if (existsSync(wanted)) return wanted;
  throw new ApiError('Invalid', `workingDir ${JSON.stringify(wanted)} does not exist`);
}

/** Ends whatever is left of a Pod; throws when it does not end. */
export async function endProcesses(dir: string, clock: Clock): Promise<void> {
  for (let tries = 0; tries < SWEEP_TRIES; tries++) {
    const left = findProcesses(dir);
    if (left.length === 0) return;
    for (const process of left) signalProcess(process, 'SIGKILL');
    await clock.sleep(SWEEP_PAUSE_MS);
  }
  throw new Error(`processes of the Pod in ${dir} do not end`);
}
