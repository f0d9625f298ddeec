/** The serial console of a guest: as a pair of byte streams over one WebSocket, and on this terminal. */
import { TAKE_OVER, TURNS } from '../../api/handler/turns.ts';
import { subresourcePath } from '../../api/kubevirt/subresource-path.ts';
import { STREAM_SUBPROTOCOL } from '../../api/kubevirt/subresources.ts';
import type { Cluster } from '../../client/node/kubeconfig.ts';
import { openWebSocket } from '../../client/node/websocket.ts';
import type { ClusterDeps, ConsoleStream, ConsoleTarget, Input, Output } from '../deps.ts';

const CTRL_RIGHT_BRACKET = 29;
const CTRL_T = 20;

/** Connects, and copies both ways until the user leaves or the other side ends. */
export async function showConsole({ namespace, openConsole, stdin, stdout, stderr }: ClusterDeps, name: string): Promise<void> {
  const turn = { isMine: true };
  const onTurn = (isMine: boolean) => {
    if (isMine === turn.isMine) return;
    turn.isMine = isMine;
    stderr.write(isMine ? '\r\n(you type again)\r\n' : '\r\n(somebody else types now; Ctrl+T takes over, Ctrl+] leaves)\r\n');
  };
  const stream = await openConsole({ namespace, name, isShared: true, onTurn });
  stderr.write(`Connected to the console of ${name}. Leave it with Ctrl+]. Press Enter for a prompt.\n`);
  const isLeft = await attach(stream, { stdin, stdout, turn });
  stderr.write(isLeft ? '\n' : `\nThe console of ${name} was closed by the other side.\n`);
}

type Terminal = { readonly stdin: Input; readonly stdout: Output; readonly turn: { readonly isMine: boolean } };

/** Copies both ways until Ctrl+] (true) or until the other side ends (false). */
async function attach(stream: ConsoleStream, { stdin, stdout, turn }: Terminal): Promise<boolean> {
  let isLeft = false;
  const onInput = (bytes: Buffer) => {
    const end = bytes.indexOf(CTRL_RIGHT_BRACKET);
    if (!turn.isMine && bytes.includes(CTRL_T)) stream.takeOver();
    else if (end !== 0) stream.write(end < 0 ? bytes : bytes.subarray(0, end));
    if (end >= 0) {
      isLeft = true;
      stream.close();
    }
  };
  if (stdin.isTTY) stdin.setRawMode?.(true);
  stdin.on('data', onInput);
  try {
    for await (const chunk of stream.output) stdout.write(chunk);
  } finally {
    stdin.off('data', onInput);
    if (stdin.isTTY) stdin.setRawMode?.(false);
    stdin.pause();
  }
  return isLeft;
}

/** Opens the stream alone, for whoever reads it in another way. */
export async function openConsole(cluster: Cluster, target: ConsoleTarget): Promise<ConsoleStream> {
  const { namespace, name, isShared, isReadOnly = false, isReplay = false, onTurn, signal } = target;
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
