/**
 * Makes qcow2 of VMDK and VHDX with qemu-img. Such a file may say that its data is in other files, any of this machine: of VMDK only those of one
 * file are taken, qemu-img is told that there is no parent, and where the kernel allows it, it has nothing but the two files, which are open. It runs
 * with bounds of memory, time and size, and without our environment.
 */
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { UserError } from '../../base/errors.ts';
import { confinedCommand, whyNotConfined } from '../../base/node/confined-command.ts';
import { findProgram } from '../../base/node/find-program.ts';
import { DISK_LIMITS } from './decompress.ts';
import { assertSingleFile } from './vmdk.ts';

type How = {
  readonly format: 'VMDK' | 'VHDX';
  readonly searchPath: string | undefined;
  readonly signal: AbortSignal;
  /** Of what is written. */
  readonly mostBytes?: number;
};
type Options = How & {
  readonly path: string;
  /** Must not exist. */
  readonly into: string;
};
/** Descriptors. */
type OpenFiles = { readonly from: number; readonly to: number };

const MOST_MEMORY_KIB = 4 * 2 ** 20;
const MOST_CPU_SECONDS = 1800;
const PATIENCE_MS = 3600_000;
/** Of what it says when it cannot. */
const MOST_TEXT = 2_000;
/** What it has open, and what it is told of that. */
const [FROM, TO] = ['/proc/self/fd/3', '/proc/self/fd/4'];

export async function convertDisk({ path, into, ...how }: Options): Promise<void> {
  const from = openSync(path, 'r');
  try {
    if (how.format === 'VMDK') assertSingleFile(from);
    const to = openSync(into, 'wx+');
    try {
      await convertOpenDisk({ from, to, ...how });
    } finally {
      closeSync(to);
    }
  } finally {
    closeSync(from);
  }
}

/** Whatever the file says of others by now: it may be another one than it was when somebody looked at it. */
export async function convertOpenDisk(options: How & OpenFiles): Promise<void> {
  const { format, searchPath, signal } = options;
  const program = findProgram('qemu-img', searchPath);
  if (!program)
    throw new UserError('QEMU_IMG_MISSING', `the disk is ${format}, and there is no qemu-img here to convert it`, {
      fix: 'install qemu-utils (or qemu-img), or convert it elsewhere with qemu-img convert -O qcow2',
      exitCode: 7,
    });
  const source = `json:${JSON.stringify({ driver: format.toLowerCase(), backing: null, file: { driver: 'file', filename: FROM } })}`;
  const command = [program, 'convert', '-O', 'qcow2', source, TO];
  const isConfined = (await whyNotConfined([program, '--version'])) === undefined;
  const why = await run(isConfined ? confinedCommand(command) : command, options);
  signal.throwIfAborted();
  if (why === undefined) return;
  const told = why.replaceAll(source, 'the disk').replaceAll(FROM, 'the disk').replaceAll(TO, 'what is made of it');
  throw new UserError('DISK_NOT_CONVERTED', `the ${format} disk cannot be converted`, {
    why: told.trim().split('\n')[0]?.slice(0, 300),
    fix: 'if it is whole, convert it where it was made: qemu-img convert -O qcow2',
  });
}

/** Why it failed; undefined when it did not. */
function run(
  command: readonly string[],
  { from, to, signal, mostBytes = DISK_LIMITS.dataBytes }: How & OpenFiles,
): Promise<string | undefined> {
  const limits = `ulimit -c 0; ulimit -v ${MOST_MEMORY_KIB}; ulimit -t ${MOST_CPU_SECONDS}; ulimit -f ${Math.floor(mostBytes / 512)}; exec "$@"`;
  const child = spawn('/bin/sh', ['-c', limits, 'sh', ...command], {
    stdio: ['ignore', 'ignore', 'pipe', from, to],
    env: {},
    signal,
    timeout: PATIENCE_MS,
    killSignal: 'SIGKILL', // unshare waits for its program when it is asked to end
  });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(0, MOST_TEXT);
  });
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, killedBy) => resolve(code === 0 ? undefined : said.trim() || `qemu-img ended with ${killedBy ?? code}`));
  });
}
