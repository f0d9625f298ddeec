/**
 * Connecting to a unix socket in a folder that a guest's process may write to. The path is opened once without following a
 * symlink and the connection goes to exactly what was opened, so the socket cannot be swapped for one of the host in between;
 * and the way through /proc/self/fd has no limit of 107 characters.
 */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';

/** Linux's O_PATH, which node does not name: a handle on the file itself, nothing is read or written. */
const O_PATH = 0o10000000;

/** Resolves with a connected socket; rejects with the code ENOENT, ECONNREFUSED or, when the path is no socket, ENOTSOCK. */
export async function connectUnixSocket(path: string, signal?: AbortSignal): Promise<Socket> {
  const handle = await open(path, O_PATH | constants.O_NOFOLLOW);
  try {
    await refuseOtherThanSocket(handle, path);
    return await connected(connect({ path: `/proc/self/fd/${handle.fd}` }), signal);
  } finally {
    await handle.close();
  }
}

/** The code of a system error, such as ENOENT. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

async function refuseOtherThanSocket(handle: FileHandle, path: string): Promise<void> {
  const stat = await handle.stat();
  if (stat.isSocket()) return;
  const what = stat.isSymbolicLink() ? 'a symbolic link' : 'not a socket';
  throw Object.assign(new Error(`Cannot connect to ${path}: it is ${what}`), { code: 'ENOTSOCK' });
}

function connected(socket: Socket, signal: AbortSignal | undefined): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      signal?.removeEventListener('abort', abort);
      socket.off('connect', succeed).off('error', fail);
      act();
    };
    const succeed = () => settle(() => resolve(socket));
    const fail = (error: unknown) =>
      settle(() => {
        socket.on('error', () => {}).destroy();
        reject(error);
      });
    const abort = () => fail(signal?.reason);
    socket.once('connect', succeed).once('error', fail);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}
