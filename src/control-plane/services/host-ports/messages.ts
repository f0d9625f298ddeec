/**
 * What the two sides of host ports say to each other, over a socket in the data folder: the cluster is in a network namespace of its own, and
 * a small process on the network of the host listens at its loopback for it. One line of JSON is one message.
 *
 *   host → cluster, first line of a connection    { control: true }: tell me what to listen at
 *                                                 { key, client }: a connection that came in for this key; what follows are its bytes
 *   cluster → host, on the control connection     { listen }: all that is wanted now
 *   host → cluster, on the control connection     { bound }: what it listens at; { taken }: what it cannot
 */
import type { Socket } from 'node:net';
import type { Protocol } from '../decide-listeners.ts';

export type HostPort = {
  /** Of the listener that it leads to. */
  readonly key: string;
  readonly protocol: Protocol;
  /** Tried in this order. */
  readonly ports: readonly number[];
  /** The first of them when somebody asked for it; when that changes, it is listened at anew. */
  readonly chosen?: number;
};
/** Where a key is served on the host; without a port it is not, for this reason. */
export type HostPortState = { readonly key: string; readonly port?: number; readonly why?: string };

export type ToHost = { readonly listen: readonly HostPort[] };
export type FromHost = { readonly control: true } | { readonly key: string; readonly client: string } | { readonly state: HostPortState };

export const HOST_ADDRESS = '127.0.0.1';
const MAX_LINE_BYTES = 4 * 2 ** 20;

export function send(socket: Socket, message: ToHost | FromHost): void {
  if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
}

/** Tells of every message until the other side ends; what is no message ends the connection. */
export function messagesOf<T>(socket: Socket, onMessage: (message: T) => void): void {
  let text = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk) => {
    text += chunk;
    if (text.length > MAX_LINE_BYTES) return void socket.destroy();
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    try {
      for (const line of lines) onMessage(JSON.parse(line) as T); // written by our own program, in a folder that is ours alone
    } catch {
      socket.destroy();
    }
  });
}

/** The first line of a connection, and the connection as it is after it; undefined when it ends or says too much before. */
export function firstMessage<T>(socket: Socket, onMessage: (message: T) => void): void {
  let head: Buffer = Buffer.alloc(0);
  socket.on('readable', read);
  socket.once('error', () => socket.destroy());
  function read(): void {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return;
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf(10);
    if (end === -1) {
      if (head.length > 1024) socket.destroy();
      return;
    }
    socket.off('readable', read);
    socket.pause();
    const rest = head.subarray(end + 1);
    if (rest.length > 0) socket.unshift(rest);
    try {
      onMessage(JSON.parse(head.subarray(0, end).toString('utf8')) as T); // as above
    } catch {
      socket.destroy();
    }
  }
}
