/**
 * The way of a dump of a guest's memory to the Pod that has the PVC: QEMU writes to a pipe in its folder, what comes there goes to the socket at which
 * that Pod listens. When the pipe is closed here, whoever closes it, QEMU gives the dump up and lets the guest run on.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { podPath, podVolumePath } from '../../api/core/pod-folder-layout.ts';
import { DUMP_PIPE } from '../../api/launcher/files.ts';
import { DUMP_END_LENGTH, DUMP_SOCKET, type DumpAnswer, type DumpHead } from '../../api/launcher/memory-dump.ts';
import { PUBLIC_VOLUME } from '../../api/launcher/mounts.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { answersOf } from '../pod-answers.ts';
import { connectToPod } from '../suspension/open-store.ts';
import type { Dump, DumpTarget, DumpWay } from '../vmi/domain-command.ts';

const run = promisify(execFile);

type Options = { readonly kubeletRoot: string; readonly folder: string; readonly clock: Clock };

export function dumpsFrom(options: Options): DumpWay {
  let current: AbortController | undefined;
  return {
    async open(to) {
      current = new AbortController();
      return openDump(options, to, current.signal);
    },
    end: (why) => current?.abort(new Error(why)),
  };
}

async function openDump(
  { kubeletRoot, folder, clock }: Options,
  { podUid, fileName, bytes }: DumpTarget,
  signal: AbortSignal,
): Promise<Dump> {
  if (!/^[A-Za-z0-9][A-Za-z0-9-]{0,127}$/.test(podUid)) throw new Error('there is no Pod that could write it');
  const pod = await connectToPod(join(kubeletRoot, podPath(podUid), podVolumePath('empty-dir', PUBLIC_VOLUME.name), DUMP_SOCKET), clock);
  const head: DumpHead = { fileName, bytes, end: randomBytes(DUMP_END_LENGTH / 2).toString('hex') };
  const { first, last } = answersOf<DumpAnswer>(pod);
  let pipe: Socket | undefined;
  const close = () => {
    pipe?.destroy();
    pod.destroy();
    void unlink(join(folder, DUMP_PIPE)).catch(() => {});
  };
  try {
    pod.write(`${JSON.stringify(head)}\n`);
    const answer = await first;
    if (!('ready' in answer)) throw refusal(answer);
    pipe = await makePipe(folder);
  } catch (error) {
    close();
    throw error;
  }
  const sent = endOf(pipe, { pod, last, signal });
  sent.catch(() => {}); // whoever waits hears it
  return {
    sent: () => sent,
    async finish() {
      pod.end(head.end, 'latin1');
      const answer = await last;
      if ('written' in answer && Number.isSafeInteger(answer.written)) return answer.written;
      throw refusal(answer);
    },
    close,
  };
}

function refusal(answer: DumpAnswer): Error {
  return new Error('error' in answer ? answer.error : 'the Pod that writes it did not say what it wrote');
}

/** A pipe that QEMU may write to, open for reading: it would stand still at one that nobody reads. */
async function makePipe(folder: string): Promise<Socket> {
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    // Through the open folder, which leads nowhere else. QEMU is another user, and the folder is closed to all others.
    const inside = `/proc/self/fd/${handle.fd}`;
    await unlink(`${inside}/${DUMP_PIPE}`).catch(() => {}); // of a dump that was cut off
    await run('mkfifo', ['-m', '0622', DUMP_PIPE], { cwd: inside }).catch((error: unknown) => {
      throw new Error(`cannot make a pipe for QEMU: ${messageOf(error)}`, { cause: error });
    });
    const fd = openSync(`${inside}/${DUMP_PIPE}`, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    if (fstatSync(fd).isFIFO()) return new Socket({ fd, readable: true, writable: false });
    closeSync(fd);
    throw new Error('what QEMU is to write to was replaced');
  } finally {
    await handle.close();
  }
}

type Sending = { readonly pod: Socket; readonly last: Promise<DumpAnswer>; readonly signal: AbortSignal };

/** Resolves when QEMU has closed the pipe, and the Pod was sent what was in it. */
function endOf(pipe: Socket, { pod, last, signal }: Sending): Promise<void> {
  const ended = new Promise<void>((resolve, reject) => {
    pipe.once('end', resolve);
    pipe.once('error', reject);
    pipe.once('close', () => reject(new Error('the pipe was closed')));
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
  // Before the end the Pod has nothing to say but that it cannot go on.
  const refused = last.then((answer): never => {
    throw refusal(answer);
  });
  pipe.pipe(pod, { end: false });
  return Promise.race([ended, refused]);
}
