/**
 * The serial console of a guest as a pair of byte streams over one WebSocket at a time: when the guest has moved to another node the console is
 * opened again there, what it had not got of what was typed is sent again, and nothing that it printed comes twice.
 */
import { readMoved } from '../../api/handler/moved.ts';
import { TAKE_OVER, TURNS } from '../../api/handler/turns.ts';
import { subresourcePath } from '../../api/kubevirt/subresource-path.ts';
import { STREAM_SUBPROTOCOL } from '../../api/kubevirt/subresources.ts';
import { backoffMs } from '../../base/backoff.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import type { Cluster } from '../../client/node/kubeconfig.ts';
import { openWebSocket } from '../../client/node/websocket.ts';
import { TypedBytes } from '../../sdk/typed-bytes.ts';
import type { ConsoleStream, ConsoleTarget } from '../deps.ts';

type Socket = Awaited<ReturnType<typeof openWebSocket>>;

/** How long a guest may be looked for at its new node. */
const FOLLOW_MS = 30_000;
const BACKOFF = { firstMs: 50, capMs: 2_000 };

/** Resolves when it is open; it ends with the guest, or when the signal aborts. */
export async function openConsole(cluster: Cluster, target: ConsoleTarget, clock: Clock = systemClock): Promise<ConsoleStream> {
  const { namespace, name, isShared, isReadOnly = false, isReplay = false, onTurn, onMoved, signal } = target;
  const open = (from?: number) => {
    const path = subresourcePath({ resource: 'virtualmachineinstances', namespace, name }, 'console', {
      ...(isShared && { shared: true }),
      ...(isReadOnly && { write: false }),
      ...(isReplay && { follow: false }),
      ...(from !== undefined && { from }),
    });
    return openWebSocket({ cluster, path, protocols: [STREAM_SUBPROTOCOL], signal });
  };
  const typed = new TypedBytes();
  const messages = new Messages();
  let socket = await open();
  let isLeft = false;

  const follow = async (from: number): Promise<void> => {
    const deadline = clock.steady() + FOLLOW_MS;
    for (let failures = 1; !isLeft && !signal?.aborted && clock.steady() < deadline; failures++) {
      try {
        socket = await open(from);
      } catch {
        await clock.sleep(backoffMs(BACKOFF, failures), signal); // it may not be known there yet
        continue;
      }
      attach();
      for (const bytes of typed.again()) socket.send(bytes);
      onMoved?.();
      return;
    }
    messages.end();
  };
  const attach = () => {
    const current = socket;
    current.on('message', (data, isBinary) => {
      if (!isBinary) return onTurn?.(String(data) === TURNS.mine);
      messages.push(Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer));
    });
    current.once('close', (code, reason) => {
      const moved = readMoved(code, String(reason));
      if (!moved || isLeft) return messages.end();
      typed.isTaken(moved.taken);
      void follow(moved.printed);
    });
    if (isLeft) current.close();
  };
  const leave = () => {
    isLeft = true;
    socket.close();
    messages.end();
  };
  attach();
  signal?.addEventListener('abort', leave, { once: true });
  return {
    output: messages.read(() => {
      signal?.removeEventListener('abort', leave);
      leave();
    }),
    takeOver: () => send(socket, TAKE_OVER),
    write: (bytes) => {
      typed.add(bytes);
      send(socket, bytes);
    },
    close: () => {
      isLeft = true;
      socket.close();
    },
  };
}

/** What is typed while there is no connection is sent when there is one again. */
function send(socket: Socket, what: string | Uint8Array): void {
  if (socket.readyState === socket.OPEN) socket.send(what);
}

/** Messages as they come. */
class Messages {
  readonly #queue: Buffer[] = [];
  #isEnded = false;
  #wake = () => {};

  push(message: Buffer): void {
    this.#queue.push(message);
    this.#wake();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  /** Until the end; `left` is called when nobody reads any more. */
  async *read(left: () => void): AsyncIterable<Buffer> {
    try {
      while (true) {
        const next = this.#queue.shift();
        if (next) yield next;
        else if (this.#isEnded) return;
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
      }
    } finally {
      left();
    }
  }
}
