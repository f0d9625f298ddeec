/** The executable vmctl, once everything is loaded. */
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { RUN_AS_VARIABLES } from '../../api/launcher/variables.ts';
import { systemClock } from '../../base/clock.ts';
import { ApiError, messageOf, UserError } from '../../base/errors.ts';
import { escapeUnprintable } from '../../base/escape-unprintable.ts';
import { createLogger } from '../../base/log.ts';
import { virtHome } from '../../base/node/folders.ts';
import { SANDBOX_VARIABLE } from '../../base/node/sandbox-path.ts';
import { createClient } from '../../client/client.ts';
import { kubeconfigPath } from '../../client/node/find-kubeconfig.ts';
import { inClusterConfig } from '../../client/node/in-cluster.ts';
import { loadKubeconfig } from '../../client/node/kubeconfig.ts';
import { createTlsFetch } from '../../client/node/tls-fetch.ts';
import { loadWebSockets } from '../../client/node/websocket.ts';
import { parseArguments, USAGE } from '../../vmctl/arguments.ts';
import { runVmctl } from '../../vmctl/run.ts';
import { VERSION } from '../version.ts';

const { env } = process;
/** In a container no kubeconfig counts: on an embedded cluster it would be that of the host's user. */
const isInPod = Boolean(env['KUBERNETES_SERVICE_HOST'] || env[SANDBOX_VARIABLE]);

/** Resolves with the exit code, after the signal has aborted or something is wrong. */
export async function main(signal: AbortSignal): Promise<number> {
  try {
    if (isInPod) await loadWebSockets();
    const own = isInPod ? enteredSandbox() : env;
    becomeUserOfContainer();
    await run(signal, own);
    return 0;
  } catch (error) {
    process.stderr.write(`${escapeUnprintable(errorLine(error))}\n`);
    return exitCodeOf(error);
  }
}

async function run(signal: AbortSignal, own: NodeJS.ProcessEnv): Promise<void> {
  const args = parseArguments(process.argv.slice(2));
  if (args === 'help' || args === 'version') {
    process.stdout.write(args === 'help' ? USAGE : `${VERSION}\n`);
    return;
  }
  const cluster = isInPod ? inClusterConfig({ env: own }) : loadKubeconfig(kubeconfigOf());
  await runVmctl({
    args,
    client: createClient({ fetch: createTlsFetch(cluster), baseUrl: cluster.server, userAgent: `vmctl/${VERSION}` }),
    cluster,
    clock: systemClock,
    log: createLogger({
      write: (line) => process.stdout.write(`${line}\n`),
      level: env['KUBEVIRT_LOG'] === 'debug' ? 'debug' : 'info',
      now: systemClock.now,
    }),
    signal,
    env: own,
    hostname: hostname().toLowerCase(),
    isInPod,
  });
}

/** As virtctl: what KUBECONFIG names, the embedded cluster's, else ~/.kube/config. */
function kubeconfigOf(): string | undefined {
  const embedded = kubeconfigPath(virtHome());
  return env['KUBECONFIG'] || (existsSync(embedded) ? embedded : undefined);
}

/** What the Pod mounts is found from its folder, where we are from now on: those above may be closed to the user of the container. */
function enteredSandbox(): NodeJS.ProcessEnv {
  const root = env[SANDBOX_VARIABLE];
  if (!root) return env;
  process.chdir(root);
  return { ...env, [SANDBOX_VARIABLE]: '.' };
}

/** The node runtime of an embedded cluster starts us as root where it is root, because our own files may be closed to others. */
function becomeUserOfContainer(): void {
  const uid = Number(env[RUN_AS_VARIABLES.user] ?? 0);
  const gid = Number(env[RUN_AS_VARIABLES.group] ?? uid);
  if (process.getuid?.() !== 0 || uid === 0) return;
  const groups = (env[RUN_AS_VARIABLES.groups] || undefined)?.split(',').map(Number) ?? [];
  process.setgroups?.([gid, ...groups]);
  process.setgid?.(gid);
  process.setuid?.(uid);
}

/** One line: it is the last one of the container's log, and what `kubectl logs` and a restart show. */
function errorLine(error: unknown): string {
  if (error instanceof ApiError) return `error[${error.reason}]: ${error.message}`;
  if (!(error instanceof UserError)) return `error[INTERNAL]: ${error instanceof Error ? error.stack : messageOf(error)}`;
  const parts = [error.message, error.why && `why: ${error.why}`, error.fix && `fix: ${error.fix}`];
  return `error[${error.code}]: ${parts.filter(Boolean).join(' / ')}`.replaceAll('\n', ' ');
}

/** As virtctl's: 2 usage, 3 not found, 4 wrong state, 6 permission, 8 no server. */
function exitCodeOf(error: unknown): number {
  if (error instanceof UserError) return error.exitCode;
  if (!(error instanceof ApiError)) return 1;
  return error.code === 401 || error.code === 403 ? 6 : error.reason === 'ServiceUnavailable' ? 8 : 1;
}
