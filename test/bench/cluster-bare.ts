/** The QEMU of a launcher Pod, started once more on the bare machine: same arguments, same disk, and nothing of Kubernetes around it. */
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LOGIN = /login: $/;
const PATIENCE_MS = 240_000;

/** The process of a guest, whatever namespaces it is in. */
export function qemuPidOf(namespace: string, name: string): number {
  const found = readdirSync('/proc').find((entry) => /^\d+$/.test(entry) && argumentsOf(entry).includes(`guest=${namespace}_${name}`));
  if (!found) throw new Error(`no QEMU of ${namespace}/${name}`);
  return Number(found);
}

/** What a guest has said on its serial line, as a file of this machine. */
export function serialLogOf(pid: number): string {
  return `/proc/${pid}/cwd/serial0.log`;
}

export type Recording = { readonly argv: readonly string[]; readonly folder: string; readonly cwd: string };

/** Copies what it needs to start again, as soon as it runs: the guest has hardly written to its overlay by then. */
export function record(pid: number): Recording {
  const folder = mkdtempSync(join(tmpdir(), 'bench-bare-'));
  const cwd = join(folder, 'kubevirt');
  const disks = join(folder, 'kubevirt-private/disks');
  mkdirSync(cwd);
  mkdirSync(disks, { recursive: true });
  const from = `/proc/${pid}/root/run/kubevirt-private/disks`;
  for (const name of readdirSync(from)) copyFileSync(join(from, name), join(disks, name));
  const argv = argumentsOf(String(pid)).map((argument) =>
    // The image of the disk is in the other container of the Pod.
    argument.replace(/\/proc\/\d+\/root[^"]*/g, (path) => {
      const copy = join(disks, path.replaceAll('/', '-'));
      copyFileSync(`/proc/${pid}/root${path}`, copy);
      return copy;
    }),
  );
  return { argv, folder, cwd };
}

/** Milliseconds to the login prompt. */
export async function timeBare({ argv, folder, cwd }: Recording): Promise<number> {
  const [program = '', ...args] = argv;
  const started = performance.now();
  const child = spawn(program, args, { cwd, stdio: 'ignore' });
  try {
    await untilPrompt(join(cwd, 'serial0.log'));
    return performance.now() - started;
  } finally {
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    rmSync(folder, { recursive: true });
  }
}

export async function untilPrompt(log: string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(existsSync(log) && LOGIN.test(readFileSync(log, 'latin1')))) {
    if (performance.now() > deadline) throw new Error(`no login prompt in ${log}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function argumentsOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
  } catch {
    return []; // ended meanwhile
  }
}
