/** A client at the serial console of a guest: what it may do there, and its bytes. */
import type { RawData, WebSocket } from 'ws';
import type { ConsoleQuestion } from '../../api/handler/questions.ts';
import { TAKE_OVER, TURNS } from '../../api/handler/turns.ts';
import { ApiError } from '../../base/errors.ts';
import type { StreamConnection } from '../server/stream-connection.ts';
import type { SerialConsole, Viewer } from './serial-console.ts';

type Wish = Pick<Viewer, 'isShared' | 'writes'>;

/** All that is kept of the past, and room for what comes meanwhile. */
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;
const NORMAL_CLOSURE = 1000;

/** Connects with a serial console; one that is just being opened is waited for. Throws NotFound when there is none. */
export async function connectConsole(serial: SerialConsole, question: ConsoleQuestion): Promise<StreamConnection> {
  if (!(await serial.isThere())) throw new ApiError('NotFound', 'the guest has no serial console');
  // What was printed before is all that a client wants which does not follow.
  const { shared: isShared = false, follow: follows = true, write = true } = question;
  const wish = { isShared, writes: follows && write };
  return {
    carry: (webSocket) => {
      view(webSocket, serial, wish);
      if (!follows) webSocket.close(NORMAL_CLOSURE, 'that is all so far');
    },
    abandon: () => {},
  };
}

function view(webSocket: WebSocket, serial: SerialConsole, wish: Wish): void {
  const gone = new AbortController();
  const viewer = viewerFor(webSocket, wish);
  webSocket.once('close', () => gone.abort());
  webSocket.on('error', () => webSocket.terminate());
  webSocket.on('message', (data, isBinary) => {
    // Bytes of the console are binary; of a shared client text is a wish.
    if (wish.isShared && !isBinary) return void (String(data) === TAKE_OVER && serial.takeOver(viewer));
    // Nothing more is read from a client until the guest has taken what it typed.
    webSocket.pause();
    void serial.write(viewer, bytesOf(data), gone.signal).finally(() => webSocket.resume());
  });
  webSocket.once('close', serial.attach(viewer));
}

function viewerFor(webSocket: WebSocket, wish: Wish): Viewer {
  return {
    ...wish,
    tell: (isWriter) => {
      if (wish.isShared && webSocket.readyState === webSocket.OPEN) webSocket.send(isWriter ? TURNS.mine : TURNS.others);
    },
    send: (bytes) => {
      if (webSocket.bufferedAmount > MAX_UNSENT_BYTES) return false;
      if (webSocket.readyState === webSocket.OPEN) webSocket.send(bytes, { binary: true });
      return true;
    },
    close: (why) => webSocket.close(NORMAL_CLOSURE, why),
  };
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
