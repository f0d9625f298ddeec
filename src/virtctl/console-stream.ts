/** The serial console of a guest as a pair of byte streams, over one WebSocket. */
import { TAKE_OVER, TURNS } from '../api/handler/turns.ts';
import { subresourcePath } from '../api/kubevirt/subresource-path.ts';
import { STREAM_SUBPROTOCOL } from '../api/kubevirt/subresources.ts';
import type { Cluster } from '../client/node/kubeconfig.ts';
import { openWebSocket } from '../client/node/websocket.ts';

export type ConsoleStream = {
  readonly output: AsyncIterable<Buffer>;
  write(bytes: Uint8Array): void;
  /** Asks to be the one who types. */
  takeOver(): void;
  close(): void;
};

export type ConsoleTarget = {
  readonly cluster: Cluster;
  readonly namespace: string;
  readonly name: string;
  /** Look on beside others, with what was printed before; otherwise this connection ends an earlier one. */
  readonly isShared: boolean;
  /** Only look: who types goes on typing. */
  readonly isReadOnly?: boolean;
  /** Told whenever it changes who types. */
  readonly onTurn?: (isMine: boolean) => void;
  /** Only what was printed before; then the stream ends. */
  readonly isReplay?: boolean;
  readonly signal?: AbortSignal;
};

export async function openConsole(target: ConsoleTarget): Promise<ConsoleStream> {
  const { cluster, namespace, name, isShared, isReadOnly = false, isReplay = false, onTurn, signal } = target;
  const path = subresourcePath({ resource: 'virtualmachineinstances', namespace, name }, 'console', {
    ...(isShared && { shared: true }),
    ...(isReadOnly && { write: false }),
    ...(isReplay && { follow: false }),
  });
  const socket = await openWebSocket({ cluster, path, protocols: [STREAM_SUBPROTOCOL], signal });
  return {
    output: messagesOf(socket, { signal, onTurn }),
    takeOver: () => socket.send(TAKE_OVER),
    write: (bytes) => socket.send(bytes),
    close: () => socket.close(),
  };
}

/** Messages as they come; ends when the socket closes or the signal aborts. */
async function* messagesOf(
  socket: Awaited<ReturnType<typeof openWebSocket>>,
  { signal, onTurn }: Pick<ConsoleTarget, 'signal' | 'onTurn'>,
): AsyncIterable<Buffer> {
  const queue: Buffer[] = [];
  let isClosed = false;
  let wake = () => {};
  socket.on('message', (data, isBinary) => {
    if (!isBinary) return onTurn?.(String(data) === TURNS.mine);
    queue.push(Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer));
    wake();
  });
  const end = () => {
    isClosed = true;
    wake();
  };
  socket.on('close', end);
  socket.on('error', end);
  const abort = () => socket.close();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    while (true) {
      const next = queue.shift();
      if (next) yield next;
      else if (isClosed) return;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  } finally {
    signal?.removeEventListener('abort', abort);
    socket.close();
  }
}
