/** Joins a program in a container and the client that asked for it, until the one has ended or the other is gone. */
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import type { ClientStreams } from './client-streams.ts';
import type { ExecProcess } from './exec-process.ts';

/** Resolves when the client has been told how it went. */
export async function runExec(process: ExecProcess, streams: ClientStreams): Promise<void> {
  const { child } = process;
  const ended = new Promise<number>((resolve, reject) => {
    child.once('close', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
    child.once('error', reject);
  });
  const leave = () => void process.end();
  streams.gone.addEventListener('abort', leave, { once: true });
  if (streams.gone.aborted) leave();
  streams.onResize((size) => process.resize(size));
  child.stdin.on('error', () => streams.stdin?.resume()); // it ends without having read all: the rest is for nobody
  if (!streams.stdin && !process.hasTerminal) child.stdin.end();
  // Before crun has made its own terminal silent, that would say again what is typed.
  if (process.hasTerminal) void process.started().then(() => streams.stdin?.pipe(child.stdin));
  else streams.stdin?.pipe(child.stdin);
  const written = [carry(child.stdout, streams.stdout), carry(child.stderr, streams.stderr)];
  const code = await ended;
  await Promise.all(written);
  streams.gone.removeEventListener('abort', leave);
  await streams.finish(exitStatus(code));
}

/** Resolves when all of it was taken; what nobody wants is read all the same, or its writer would wait for ever. */
function carry(from: Readable, to: Writable | undefined): Promise<void> {
  if (!to) {
    from.resume();
    return Promise.resolve();
  }
  from.pipe(to);
  return new Promise((resolve) => to.once('finish', resolve).once('close', resolve));
}

/** The Status that kubectl takes its own exit code from. */
function exitStatus(code: number): object {
  if (code === 0) return { metadata: {}, status: 'Success' };
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${code}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  };
}
