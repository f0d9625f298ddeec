/**
 * The Pod that takes the memory of a guest to a PVC: listens at a socket, where virt-handler sends one line of JSON (what the machine is) and then what
 * QEMU writes. The end of that is answered with the digest when everything is on the disk, or with what went wrong. Nobody else can
 * connect: the folder is that of the machine's user.
 */
import { rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { MEMORY_VOLUME, PUBLIC_VOLUME } from '../api/launcher/mounts.ts';
import { SAVE_SOCKET, type SaveAnswer, type SavedMachine } from '../api/launcher/suspension.ts';
import { messageOf, UserError } from '../base/errors.ts';
import { MemoryWriter } from './memory-file.ts';
import { mountedFolder, openMountedFolder } from './mounted-folder.ts';
import { stepDown } from './privileges.ts';
import type { Environment } from './ready-process.ts';

const NEWLINE = 10;
const MOST_HEAD_BYTES = 2048;

/** Resolves when it listens; the process stays until its Pod is ended. */
export async function saveMemory({ env, report }: { env: Environment; report: (line: string) => void }): Promise<void> {
  const folder = openMountedFolder(MEMORY_VOLUME.mountPath, env);
  process.umask(0o077);
  process.chdir(mountedFolder(PUBLIC_VOLUME.mountPath, env));
  const privileges = stepDown(env);
  privileges.dropForGood();
  rmSync(SAVE_SOCKET, { force: true }); // of a try that was killed
  const server = createServer({ allowHalfOpen: true }, (socket) => take(socket, folder, report));
  server.maxConnections = 1;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new UserError('FILE_INACCESSIBLE', 'cannot listen for memory', { why: messageOf(error), cause: error })),
    );
    server.listen(SAVE_SOCKET, resolve);
  });
  report('waiting for the memory of the guest');
}

function take(socket: Socket, folder: string, report: (line: string) => void): void {
  let head = Buffer.alloc(0);
  let writer: MemoryWriter | undefined;
  let isOver = false;
  const end = (answer: SaveAnswer) => {
    isOver = true;
    report('error' in answer ? `cannot save: ${answer.error}` : `saved ${answer.bytes} bytes, sha256 ${answer.digest}`);
    socket.end(`${JSON.stringify(answer)}\n`);
  };
  const fail = (error: unknown) => {
    writer?.giveUp();
    writer = undefined;
    if (!isOver) end({ error: messageOf(error) });
    socket.destroySoon();
  };
  socket.on('data', (chunk: Buffer) => {
    if (isOver) return;
    try {
      if (writer) return writer.take(chunk);
      head = Buffer.concat([head, chunk]);
      const at = head.indexOf(NEWLINE);
      if (at < 0 && head.length <= MOST_HEAD_BYTES) return;
      writer = new MemoryWriter(folder, machineFrom(head.subarray(0, Math.max(0, at))));
      writer.take(head.subarray(at + 1));
    } catch (error) {
      fail(error);
    }
  });
  socket.once('end', () => {
    if (isOver) return;
    try {
      if (!writer) throw new Error('nothing was sent');
      end(writer.finish());
    } catch (error) {
      fail(error);
    }
  });
  socket.once('error', fail);
}

function machineFrom(line: Buffer): SavedMachine {
  const { machine, qemu, accelerator } = JSON.parse(line.toString('utf8')) as SavedMachine; // virt-handler wrote it
  if (![machine, qemu, accelerator].every((each) => typeof each === 'string')) throw new Error('this is not the memory of a guest');
  return { machine, qemu, accelerator };
}
