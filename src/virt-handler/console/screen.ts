/**
 * The screens of guests: QEMU's own VNC server, reached through its socket in the Pod's folder. The rules:
 *
 *   shared             looks on beside everybody else
 *   plain              ends the last plain connection to the same guest, as in KubeVirt
 *   preserveSession    the same, but refused while there is a plain connection
 *
 * One of the shared viewers at a time has keys and pointer: the newest, until another takes over; when it has left, the first that tries. What
 * the others send of it is dropped. A plain viewer knows of no turns and always has both; while it comes, nobody else does.
 */
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { RawData, WebSocket } from 'ws';
import { MOVED_CODE, movedReason } from '../../api/handler/moved.ts';
import type { ScreenQuestion } from '../../api/handler/questions.ts';
import { TAKE_OVER } from '../../api/handler/turns.ts';
import { VNC_SOCKET } from '../../api/launcher/files.ts';
import { ApiError } from '../../base/errors.ts';
import { codeOf, connectUnixSocket } from '../../qemu/qmp/connect-socket.ts';
import { carryBytes } from '../network/serve-port.ts';
import type { StreamConnection } from '../server/stream-connection.ts';
import { RfbInput } from './rfb-input.ts';

/** `watching` is shared and never has the turn. */
export type ScreenWish = 'shared' | 'watching' | 'plain' | 'preserve';
export type ScreenOptions = {
  readonly key: string;
  readonly folder: string;
  readonly wish: ScreenWish;
  /** Asked when the screen has gone: whether the guest goes on at another node. */
  readonly hasMoved?: () => boolean;
};

/** What a client of the screen wants to be. */
export function wishOf({ shared, write, preserveSession }: ScreenQuestion): ScreenWish {
  if (shared) return write === false ? 'watching' : 'shared';
  return preserveSession ? 'preserve' : 'plain';
}

type Session = { readonly end: () => void };
/** A shared viewer that has the turn. */
type Turn = { readonly lose: () => void };

const NORMAL_CLOSURE = 1000;
const UNKNOWN_MESSAGE = 1003;
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;

type Shared = Pick<ScreenOptions, 'key' | 'hasMoved'> & {
  readonly screen: Socket;
  readonly webSocket: WebSocket;
  readonly isWriter: boolean;
};

export class Screens {
  /** The plain connection of each guest that has one. */
  readonly #plain = new Map<string, Session>();
  /** Which of the shared viewers of each guest has keys and pointer. */
  readonly #turns = new Map<string, Turn>();

  /** Connects with the screen of a guest; throws NotFound when it has none, ServiceUnavailable when the last viewer is to be left alone. */
  async connect({ key, folder, wish, hasMoved }: ScreenOptions): Promise<StreamConnection> {
    if (wish === 'preserve' && this.#plain.has(key))
      throw new ApiError('ServiceUnavailable', 'somebody else looks at it, and is not to be disturbed');
    const screen = await openScreen(folder);
    const abandon = () => screen.destroy();
    if (wish === 'shared' || wish === 'watching')
      return { abandon, carry: (webSocket) => this.#share({ key, hasMoved, screen, webSocket, isWriter: wish === 'shared' }) };
    return { abandon, carry: (webSocket) => this.#replace(key, screen, webSocket) };
  }

  /** A plain viewer takes the place of the last one. */
  #replace(key: string, screen: Socket, webSocket: WebSocket): void {
    this.#give(key, undefined);
    this.#plain.get(key)?.end();
    const session: Session = { end: () => webSocket.close(NORMAL_CLOSURE, 'another client took over the screen') };
    this.#plain.set(key, session);
    webSocket.once('close', () => {
      if (this.#plain.get(key) === session) this.#plain.delete(key);
    });
    carryBytes(screen)(webSocket);
  }

  #share({ key, hasMoved, screen, webSocket, isWriter }: Shared): void {
    const input = new RfbInput();
    const turn: Turn = { lose: () => screen.write(input.release()) };
    const mayWrite = () => {
      if (isWriter && !this.#turns.has(key)) this.#give(key, turn);
      return this.#turns.get(key) === turn;
    };
    if (isWriter) this.#give(key, turn);
    webSocket.on('message', (data, isBinary) => {
      if (!isBinary) {
        if (isWriter && String(data) === TAKE_OVER) this.#give(key, turn);
        return;
      }
      const bytes = input.push(bytesOf(data), mayWrite);
      if (bytes === undefined) webSocket.close(UNKNOWN_MESSAGE, 'this viewer sends what is not understood');
      else if (bytes.length > 0 && !screen.write(bytes)) {
        webSocket.pause();
        screen.once('drain', () => webSocket.resume());
      }
    });
    webSocket.once('close', () => {
      if (this.#turns.get(key) === turn) this.#give(key, undefined);
      screen.destroySoon();
    });
    webSocket.on('error', () => webSocket.terminate());
    screen.once('close', () => hasMoved?.() && webSocket.close(MOVED_CODE, movedReason({ taken: 0, printed: 0 })));
    show(screen, webSocket);
  }

  #give(key: string, turn: Turn | undefined): void {
    const last = this.#turns.get(key);
    if (last === turn) return;
    last?.lose();
    if (turn) this.#turns.set(key, turn);
    else this.#turns.delete(key);
  }
}

/** Pictures to the viewer, no faster than it takes them. */
function show(screen: Socket, webSocket: WebSocket): void {
  screen.on('data', (chunk: Buffer) => {
    webSocket.send(chunk, { binary: true }, () => {
      if (webSocket.bufferedAmount <= MAX_UNSENT_BYTES) screen.resume();
    });
    if (webSocket.bufferedAmount > MAX_UNSENT_BYTES) screen.pause();
  });
  screen.on('error', () => webSocket.terminate());
  screen.once('close', () => webSocket.close(NORMAL_CLOSURE));
  screen.resume();
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}

/** Connects with the screen of the guest whose sockets are in this folder; throws NotFound when it has none. */
async function openScreen(folder: string): Promise<Socket> {
  try {
    return await connectUnixSocket(join(folder, VNC_SOCKET));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw new ApiError('NotFound', 'the guest has no screen', { cause: error });
    throw error;
  }
}
