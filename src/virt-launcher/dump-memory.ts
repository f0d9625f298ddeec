/**
 * The Pod that takes a dump of a guest's memory to a PVC: listens at a socket, where virt-handler sends one line of JSON (what comes). That is answered
 * with `ready`, or with why not; then comes the dump, and the answer when everything is on the disk. Nobody else can connect: the folder is that of
 * the machine's user.
 */
import { rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { DUMP_END_LENGTH, DUMP_SOCKET, DUMP_SUFFIX, type DumpAnswer, type DumpHead } from '../api/launcher/memory-dump.ts';
import { DUMP_VOLUME, PUBLIC_VOLUME } from '../api/launcher/mounts.ts';
import { messageOf, UserError } from '../base/errors.ts';
import { DumpWriter } from './dump-file.ts';
import { mountedFolder, openMountedFolder } from './mounted-folder.ts';
import { stepDown } from './privileges.ts';
import type { Environment } from './ready-process.ts';

const NEWLINE = 10;
const MOST_HEAD_BYTES = 2048;
/** No path, nothing hidden, and never longer than a name can be. */
const FILE_NAME = /^[a-z0-9][a-z0-9.-]{0,200}$/;

/** Resolves when it listens; the process stays until its Pod is ended. */
export async function dumpMemory({ env, report }: { env: Environment; report: (line: string) => void }): Promise<void> {
  const folder = openMountedFolder(DUMP_VOLUME.mountPath, env);
  process.umask(0o077);
  process.chdir(mountedFolder(PUBLIC_VOLUME.mountPath, env));
  stepDown(env).dropForGood();
  rmSync(DUMP_SOCKET, { force: true }); // of a try that was killed
  const server = createServer({ allowHalfOpen: true }, (socket) => takeDump(socket, folder, report));
  server.maxConnections = 1;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new UserError('FILE_INACCESSIBLE', 'cannot listen for a dump', { why: messageOf(error), cause: error })),
    );
    server.listen(DUMP_SOCKET, resolve);
  });
  report('waiting for the memory of the guest');
}

/** Writes what comes at this socket to the folder. */
export function takeDump(socket: Socket, folder: string, report: (line: string) => void): void {
  let head = Buffer.alloc(0);
  let writer: DumpWriter | undefined;
  let isOver = false;
  const say = (answer: DumpAnswer) => socket.write(`${JSON.stringify(answer)}\n`);
  const fail = (error: unknown) => {
    writer?.giveUp();
    writer = undefined;
    if (isOver) return;
    isOver = true;
    report(`cannot dump: ${messageOf(error)}`);
    say({ error: messageOf(error) });
    socket.end(); // what still comes is not looked at: closing would take the answer away from whoever sends
  };
  socket.on('data', (chunk: Buffer) => {
    if (isOver) return;
    try {
      if (writer) return writer.take(chunk);
      head = Buffer.concat([head, chunk]);
      const at = head.indexOf(NEWLINE);
      if (at < 0 && head.length <= MOST_HEAD_BYTES) return;
      writer = new DumpWriter(folder, headFrom(head.subarray(0, Math.max(0, at))));
      say({ ready: true });
      if (head.length > at + 1) writer.take(head.subarray(at + 1));
    } catch (error) {
      fail(error);
    }
  });
  socket.once('end', () => {
    if (isOver) return;
    try {
      if (!writer) throw new Error('nothing was sent');
      const written = writer.finish();
      isOver = true;
      report(`dumped ${written} bytes`);
      say({ written });
      socket.end();
    } catch (error) {
      fail(error);
    }
  });
  socket.once('error', fail);
}

function headFrom(line: Buffer): DumpHead {
  const { fileName, bytes, end } = JSON.parse(line.toString('utf8')) as DumpHead; // virt-handler wrote it
  const isName = typeof fileName === 'string' && FILE_NAME.test(fileName) && fileName.endsWith(DUMP_SUFFIX);
  if (!isName || !Number.isSafeInteger(bytes) || typeof end !== 'string' || end.length !== DUMP_END_LENGTH)
    throw new Error('this is not the dump of a guest');
  return { fileName, bytes, end };
}
