/** Starts the embedded cluster as a process of its own and waits until it serves. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { UserError } from '../../base/errors.ts';
import type { Deps } from '../deps.ts';
import { closeNetwork, type Network, openNetwork } from './network-namespace.ts';
import { logPath, statePath } from './paths.ts';
import { type EmbeddedState, lastState } from './state.ts';

/** A small young generation: 30 MiB less resident memory for a few more short collections, which a process that mostly waits does not feel. */
export const NODE_FLAGS = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=2'];

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

/** Returns when the cluster serves; throws what it said when it could not start. It goes on when we end; aborting before ends it. */
export async function launchEmbedded(
  context: Pick<Deps, 'home' | 'env' | 'embeddedProgram'>,
  options: { readonly port: number; readonly nodes: number; readonly adopt?: boolean; readonly signal?: AbortSignal },
): Promise<{ state: EmbeddedState; network: Network }> {
  const log = logPath(context.home);
  for (const path of [log, statePath(context.home)]) mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  chmodSync(context.home, 0o711); // QEMU's own user walks through to its files; nobody may list
  const hadCluster = lastState(context.home) !== undefined;
  const network = await openNetwork({ home: context.home, port: options.port, env: context.env, clock: systemClock });
  const output = openSync(log, 'a', 0o600);
  const settings = ['--home', context.home, '--port', String(network.port), '--network', network.mode, '--nodes', String(options.nodes)];
  if (options.adopt) settings.push('--adopt');
  const command = [...network.prefix, process.execPath, ...NODE_FLAGS, context.embeddedProgram, ...settings];
  const child = spawn(command[0] ?? process.execPath, command.slice(1), {
    cwd: context.home,
    detached: true,
    stdio: ['ignore', output, output, 'ipc'],
  });
  closeSync(output);
  const report = await reportOf(child, log, options.signal).catch((error: unknown) => ({ error }));
  if (!('ready' in report) && !hadCluster) closeNetwork(context.home); // nobody lives there, and nobody would put it away
  if ('error' in report) throw report.error;
  child.removeAllListeners('exit');
  if (child.connected) child.disconnect();
  child.unref();
  if ('ready' in report) return { state: report.ready, network };
  const { code, message, ...rest } = report.failed;
  throw new UserError(code, message, rest);
}

function reportOf(child: ChildProcess, log: string, signal: AbortSignal | undefined): Promise<EmbeddedReport> {
  return new Promise((resolve, reject) => {
    const end = () => child.kill('SIGTERM');
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end, { once: true });
    child.once('message', (message) => resolve(message as EmbeddedReport)); // the one message that our own program sends
    child.once('error', reject);
    child.once('exit', (code, by) => reject(signal?.aborted ? interrupted() : diedEarly(code ?? by, log)));
  });
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
    fix: `look at the last lines: tail ${log}`,
  });
}
