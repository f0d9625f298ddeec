/** Real QEMU processes for tests: started in a folder of their own, ended and removed with the test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { QMP_SOCKET } from '../../api/launcher/files.ts';
import { systemClock } from '../../base/clock.ts';

/** In /proc/net/unix. */
const ACCEPTS_CONNECTIONS = '00010000';

export type TestQemu = {
  readonly pid: number;
  readonly folder: string;
  readonly qmpPath: string;
  readonly exitCode: Promise<number | null>;
};
export type TestQemuOptions = {
  /** `none` starts in no time and has no processor; q35 is a machine. */
  readonly machine?: 'none' | 'q35';
  readonly isPaused?: boolean;
  /** Further arguments; paths are relative to the folder. */
  readonly args?: readonly string[];
  /** These arguments and no other; among them is QMP on qmp.sock. */
  readonly exactArgs?: readonly string[];
  /** Where to run; a new folder when not given. */
  readonly folder?: string;
};

/** A folder that is removed when the test is over. */
export async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'kubevirt-ts-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A QEMU that serves QMP on qmp.sock in its folder, ready to be connected to. */
export async function startQemu(t: TestContext, options: TestQemuOptions = {}): Promise<TestQemu> {
  const { machine = 'none', isPaused = false, args = [] } = options;
  const folder = options.folder ?? (await temporaryFolder(t));
  const board = machine === 'none' ? ['-machine', 'none'] : ['-machine', 'q35', '-accel', 'tcg,tb-size=16', '-m', '16'];
  const fixed = ['-nodefaults', '-no-user-config', '-display', 'none', '-no-shutdown', '-qmp', `unix:${QMP_SOCKET},server=on,wait=off`];
  const child = spawn('qemu-system-x86_64', options.exactArgs ?? [...board, ...fixed, ...(isPaused ? ['-S'] : []), ...args], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exitCode = once(child, 'exit').then(([code]) => code as number | null);
  t.after(() => endOf(child, exitCode));
  const qmpPath = join(folder, QMP_SOCKET);
  await waitUntil(() => isServed(child.pid!), `QEMU serves ${qmpPath}`);
  return { pid: child.pid!, folder, qmpPath, exitCode };
}

/** The file is there a moment before connections are taken; the kernel's list tells which sockets of a process take some. */
async function isServed(pid: number): Promise<boolean> {
  const files = await readdir(`/proc/${pid}/fd`);
  const links = await Promise.all(files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => '')));
  const sockets = (await readFile('/proc/net/unix', 'utf8')).split('\n').map((line) => line.split(/ +/));
  return sockets.some(
    ([, , , flags, , , inode, path]) => path === QMP_SOCKET && flags === ACCEPTS_CONNECTIONS && links.includes(`socket:[${inode}]`),
  );
}

/** Polls, because a file that another process makes has no promise to wait for. */
export async function waitUntil(holds: () => boolean | Promise<boolean>, what: string, timeoutMs = 20_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`Gave up after ${timeoutMs} ms waiting for: ${what}`);
    await systemClock.sleep(10);
  }
}

async function endOf(child: ChildProcess, exitCode: Promise<unknown>): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  await exitCode;
}
