/** Starts the embedded cluster as a process of its own and waits until it serves. */
import { spawn } from 'node:child_process';
import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { UserError } from '../../base/errors.ts';
import type { Context } from '../context.ts';
import { logPath } from './paths.ts';
import type { EmbeddedState } from './state.ts';

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

/** Returns when the cluster serves; throws what it said when it could not start. It goes on when we end. */
export async function launchEmbedded(context: Context, options: { readonly port: number }): Promise<EmbeddedState> {
  const log = logPath(context.home);
  mkdirSync(dirname(log), { recursive: true, mode: 0o700 });
  chmodSync(context.home, 0o711); // QEMU's own user walks through to its files; nobody may list
  const output = openSync(log, 'a', 0o600);
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', context.embeddedProgram, '--home', context.home, '--port', String(options.port)],
    {
      cwd: context.home,
      detached: true,
      stdio: ['ignore', output, output, 'ipc'],
    },
  );
  closeSync(output);
  const report = await new Promise<EmbeddedReport>((resolve, reject) => {
    child.once('message', (message) => resolve(message as EmbeddedReport));
    child.once('error', reject);
    child.once('exit', (code, signal) => reject(diedEarly(code ?? signal, log)));
  });
  child.removeAllListeners('exit');
  if (child.connected) child.disconnect();
  child.unref();
  if ('ready' in report) return report.ready;
  const { code, message, ...rest } = report.failed;
  throw new UserError(code, message, rest);
}

function diedEarly(code: number | string | null, log: string): UserError {
  return new UserError('EMBEDDED_DIED', `the embedded cluster ended before it served anything (${code})`, {
    why: `its log is ${log}`,
    fix: `look at the last lines: tail ${log}`,
  });
}
