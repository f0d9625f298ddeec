/**
 * The Pod that takes a backup of the disks of a guest to a PVC: listens at a socket, where virt-handler says in one line of JSON what is to be made. It makes
 * empty files, has qemu-storage-daemon serve them at another socket, and answers `ready`, or why not. QEMU writes there. When virt-handler says that
 * it is whole, the files get their names; when it goes without that, they go. Nobody else can connect: the folder is that of the machine's user.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { ATTACH_SOCKET } from '../api/launcher/attachment.ts';
import { BACKUP_SOCKET, BACKUP_WHOLE, type BackupAnswer, type BackupHead, exportNameOf } from '../api/launcher/backup.ts';
import { BACKUP_VOLUME, PUBLIC_VOLUME } from '../api/launcher/mounts.ts';
import { messageOf, UserError } from '../base/errors.ts';
import { isObject } from '../base/json.ts';
import { findDaemon } from './attach.ts';
import { BackupFiles } from './backup-files.ts';
import { mountedFolder, openMountedFolder } from './mounted-folder.ts';
import { stepDown } from './privileges.ts';
import type { Environment } from './ready-process.ts';

const MOST_DISKS = 256;
const START_MS = 30_000;
const LOOK_MS = 20;
const GREETING_MS = 1_000;
const BEAT_MS = 60_000;
/** Which descriptor of the daemon leads to the PVC. */
const CLAIM_DESCRIPTOR = 3;
/** What it says first to whoever connects. */
const GREETING = 'NBDMAGIC';
/** No path that leads out, nothing hidden, and never longer than a name can be. */
const NAME = '[a-z0-9](?:[a-z0-9.-]{0,220})';
const FOLDER = new RegExp(`^${NAME}/${NAME}$`);
const ONE_NAME = new RegExp(`^${NAME}$`);

/** Resolves when it listens; the process stays until its Pod is ended. */
export async function writeBackup({ env, report }: { env: Environment; report: (line: string) => void }): Promise<void> {
  const root = openMountedFolder(BACKUP_VOLUME.mountPath, env);
  const program = findDaemon(env);
  process.umask(0o077);
  process.chdir(mountedFolder(PUBLIC_VOLUME.mountPath, env));
  stepDown(env).dropForGood();
  rmSync(BACKUP_SOCKET, { force: true }); // of a try that was killed
  const server = createServer({ allowHalfOpen: true }, (socket) => void takeBackup(socket, { root, folder: '.', program, report }));
  server.maxConnections = 1;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new UserError('FILE_INACCESSIBLE', 'cannot listen for a backup', { why: messageOf(error), cause: error })),
    );
    server.listen(BACKUP_SOCKET, resolve);
  });
  report('waiting for the disks of the guest');
}

type Place = {
  /** The PVC. */
  readonly root: string;
  /** Where the socket of the files is made. */
  readonly folder: string;
  readonly program: string;
  readonly report: (line: string) => void;
};

/** Does what is said at this socket. */
export async function takeBackup(socket: Socket, { root, folder, program, report }: Place): Promise<void> {
  const say = (answer: BackupAnswer) => socket.write(`${JSON.stringify(answer)}\n`);
  socket.on('error', () => {}); // the lines end, too
  const reader = createInterface({ input: socket });
  socket.once('close', () => reader.close()); // one that breaks does not end
  const lines = reader[Symbol.asyncIterator]();
  let files: BackupFiles | undefined;
  let daemon: Daemon | undefined;
  const beating = setInterval(() => files?.beat(), BEAT_MS);
  try {
    const head = headFrom((await lines.next()).value);
    files = new BackupFiles(root, head);
    daemon = await serve(files.paths, { program, root, folder });
    const ended = once(daemon.process, 'exit').then(() => ({ value: 'ended' }));
    say({ ready: true });
    const { value } = await Promise.race([lines.next(), ended]);
    if (value !== BACKUP_WHOLE) throw new Error(value === 'ended' ? 'what serves the files has ended' : 'nobody wants it any more');
    await stop(daemon);
    const written = files.finish();
    report(`backed up ${written} bytes`);
    say({ written });
  } catch (error) {
    daemon?.process.kill('SIGKILL');
    const why = [messageOf(error), ...giveUp(files)].join('; ');
    report(`cannot back up: ${why}`);
    say({ error: why });
  } finally {
    clearInterval(beating);
    reader.close();
    socket.resume().end(); // what still comes is not looked at: closing would take the answer away from whoever sends
  }
}

/** Whoever waits is answered whatever becomes of the files: returns why they are still there. */
function giveUp(files: BackupFiles | undefined): string[] {
  try {
    files?.giveUp();
    return [];
  } catch (error) {
    return [`what was written cannot be removed: ${messageOf(error)}`];
  }
}

type Daemon = {
  readonly process: ChildProcess;
  /** The end of what it has said. */
  readonly said: () => string;
};

/** Resolves when QEMU can connect. */
async function serve(paths: readonly string[], { program, root, folder }: Omit<Place, 'report'>): Promise<Daemon> {
  rmSync(join(folder, ATTACH_SOCKET), { force: true }); // of a try that was killed
  const claim = openSync(root, constants.O_RDONLY | constants.O_DIRECTORY);
  const nodes = paths.flatMap((path, index) => ['--blockdev', JSON.stringify(nodeOf(path, index))]);
  const exports = paths.flatMap((_, index) => {
    const name = exportNameOf(index);
    return ['--export', JSON.stringify({ type: 'nbd', id: name, 'node-name': name, name, writable: true })];
  });
  const server = { addr: { type: 'unix', path: ATTACH_SOCKET }, 'max-connections': paths.length + 1 }; // and our own question
  const args = [...nodes, '--nbd-server', JSON.stringify(server), ...exports];
  const daemon = spawn(program, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe', claim] });
  closeSync(claim);
  let said = '';
  daemon.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(-500);
  });
  daemon.once('error', (error) => {
    said = messageOf(error);
  });
  for (let waitedMs = 0; !(await isServing(join(folder, ATTACH_SOCKET))); waitedMs += LOOK_MS) {
    if (daemon.exitCode !== null || daemon.signalCode !== null || daemon.pid === undefined || waitedMs >= START_MS) {
      daemon.kill('SIGKILL');
      throw new Error(`the files cannot be served: ${said.trim() || 'nobody said why'}`);
    }
    await sleep(LOOK_MS);
  }
  return { process: daemon, said: () => said };
}

/** It greets when everything is served, and not before. */
function isServing(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const end = (isIt: boolean) => {
      socket.destroy();
      resolve(isIt);
    };
    socket.setTimeout(GREETING_MS, () => end(false));
    socket.once('error', () => end(false));
    socket.once('close', () => end(false));
    socket.once('data', (said) => end(said.toString('latin1').startsWith(GREETING)));
  });
}

/** What an incremental one builds on is not opened: nothing of it is read, and it may be elsewhere. */
function nodeOf(path: string, index: number): object {
  const filename = join(`/proc/self/fd/${CLAIM_DESCRIPTOR}`, path);
  return {
    driver: 'qcow2',
    'node-name': exportNameOf(index),
    discard: 'unmap',
    backing: null,
    file: { driver: 'file', filename, discard: 'unmap' },
  };
}

/** It closes its files in order. It ends with 0 whatever came of that: that something could not be written is only said. */
async function stop({ process: daemon, said }: Daemon): Promise<void> {
  const before = said();
  const closed = once(daemon, 'close'); // later than exit: all that it says has arrived
  daemon.kill('SIGTERM');
  const [code] = await closed;
  if (code !== 0) throw new Error(`what serves the files ended with ${code}`);
  if (said() !== before) throw new Error(`the files could not be closed: ${said().trim()}`);
}

function headFrom(line: unknown): BackupHead {
  const { folder, base, bytes, disks } = parsed(line);
  const isFolder = typeof folder === 'string' && FOLDER.test(folder);
  const isBase = base === undefined || (typeof base === 'string' && ONE_NAME.test(base));
  const areDisks = Array.isArray(disks) && disks.length > 0 && disks.length <= MOST_DISKS && disks.every(isDisk);
  if (!isFolder || !isBase || !areDisks || !Number.isSafeInteger(bytes)) throw new Error('this is not the backup of a guest');
  return { folder, ...(base !== undefined && { base }), bytes: Number(bytes), disks };
}

function parsed(line: unknown): Readonly<Record<string, unknown>> {
  const head: unknown = typeof line === 'string' ? JSON.parse(line) : undefined;
  return isObject(head) ? head : {};
}

function isDisk(disk: unknown): boolean {
  const { volume, bytes } = isObject(disk) ? disk : {};
  return typeof volume === 'string' && ONE_NAME.test(volume) && Number.isSafeInteger(bytes) && Number(bytes) > 0;
}
