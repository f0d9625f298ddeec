/**
 * What a container reads, of one with `stdin` or `tty`: a fifo in its bundle, which a process beside the container keeps open. So a container
 * neither waits for its first reader of kubectl nor notices that a client or a kubelet goes; with `stdinOnce` it has read all when the first client is gone.
 */
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import type { Container } from '../../../api/core/pod.ts';
import { ApiError } from '../../../base/errors.ts';
import { readNumber } from '../../../base/node/pod-sandbox.ts';

export const STDIN_FILE = 'stdin';
export const HOLDER_FILE = 'stdin-holder';

type Options = {
  readonly bundle: string;
  readonly container: Container;
  /** True for a process of this Pod: a number alone may be somebody else's by now. */
  readonly isOfPod: (pid: number) => boolean;
};

/** Whoever keeps the fifo open; undefined when nobody does any more. */
export function stdinHolder({ bundle, isOfPod }: Omit<Options, 'container'>): number | undefined {
  const pid = readNumber(join(bundle, HOLDER_FILE));
  return pid !== undefined && isOfPod(pid) ? pid : undefined;
}

/** A way to what the container reads; BadRequest where it reads nothing. Ending it is an end to the container with `stdinOnce` only. */
export function openStdin({ bundle, container, isOfPod }: Options): Writable {
  const { name, stdin, stdinOnce } = container;
  if (!stdin) throw new ApiError('BadRequest', `container ${name} reads no stdin: its spec needs \`stdin: true\``);
  const holder = stdinHolder({ bundle, isOfPod });
  if (holder === undefined)
    throw new ApiError('BadRequest', `the stdin of container ${name} was closed when its first client left (stdinOnce)`);
  const socket = new Socket({ fd: openFifo(join(bundle, STDIN_FILE)), readable: false, writable: true });
  socket.on('error', () => {}); // the container has ended, and with it its stdin
  if (stdinOnce) process.kill(holder, 'SIGKILL');
  return socket;
}

/** Never a file that was put in its place; without waiting for a reader. */
function openFifo(path: string): number {
  const { O_WRONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  const fd = openSync(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW);
  if (fstatSync(fd).isFIFO()) return fd;
  closeSync(fd);
  throw new ApiError('InternalError', 'the stdin of the container is not a fifo');
}
