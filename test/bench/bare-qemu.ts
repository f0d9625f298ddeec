/** A QEMU that ran for us, started once more on the bare machine: same arguments, same disk, and nothing around it. */
import { spawn } from 'node:child_process';
import { cpSync, existsSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SERIAL_LOG } from '../../src/api/launcher/files.ts';
import { cpuMsOf } from './figures.ts';

const LOGIN = /login: $/;
const PATIENCE_MS = 240_000;

/** Everything that is needed to start it again. */
export type Recording = { readonly argv: readonly string[]; readonly cwd: string; remove(): void };

/** Of a QEMU that runs. The copy lies as deep as the original, so that QEMU's relative paths hold; the guest has hardly written to its overlay by then. */
export function record(pid: number): Recording {
  const original = readlinkSync(`/proc/${pid}/cwd`);
  const argv = argumentsOf(pid);
  const [, kubelet = '', uid = '', rest = ''] = /^(.*)\/pods\/([^/]+)\/(.*)$/.exec(original) ?? [];
  const copy = join(kubelet, 'bench', uid);
  cpSync(join(kubelet, 'pods', uid), copy, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !path.endsWith('.sock') && !path.endsWith('.log'),
  });
  return { argv, cwd: join(copy, rest), remove: () => rmSync(copy, { recursive: true, force: true }) };
}

/** The same once more, for one run each: a guest writes to its overlay. */
export function copyOf({ argv, cwd }: Recording, name: string): Recording {
  const [, bench = '', uid = '', rest = ''] = /^(.*\/bench)\/([^/]+)\/(.*)$/.exec(cwd) ?? [];
  const copy = join(bench, name);
  cpSync(join(bench, uid), copy, { recursive: true, verbatimSymlinks: true });
  return { argv, cwd: join(copy, rest), remove: () => rmSync(copy, { recursive: true, force: true }) };
}

/** Milliseconds to the login prompt; what was recorded is gone then. */
export async function timeBare(recording: Recording): Promise<number> {
  return (await measureBare(recording)).login;
}

/** The same with QEMU's CPU time, which other work on the machine changes less. */
export async function measureBare({ argv, cwd, remove }: Recording): Promise<{ readonly login: number; readonly qemuCpuMs: number }> {
  const [program = '', ...args] = argv;
  const started = performance.now();
  const child = spawn(program, args, { cwd, stdio: 'ignore' });
  try {
    await untilPrompt(join(cwd, SERIAL_LOG));
    return { login: performance.now() - started, qemuCpuMs: cpuMsOf(child.pid ?? 0) };
  } finally {
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    remove();
  }
}

/** Until a guest asks for a name in the log of its serial line. */
export async function untilPrompt(log: string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(existsSync(log) && LOGIN.test(readFileSync(log, 'latin1')))) {
    if (performance.now() > deadline) throw new Error(`no login prompt in ${log}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export function argumentsOf(pid: number | string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
  } catch {
    return []; // ended meanwhile
  }
}
