/**
 * The screens of guests: QEMU's own VNC server, reached through its socket in the Pod's folder. The rules:
 *
 *   shared             looks on beside everybody else
 *   plain              ends the last plain connection to the same guest, as in KubeVirt
 *   preserveSession    the same, but refused while there is a plain connection
 */
import { join } from 'node:path';
import { ApiError } from '../../base/errors.ts';
import { VNC_SOCKET } from '../../qemu/convert/input.ts';
import { codeOf, connectUnixSocket } from '../../qemu/qmp/connect-socket.ts';
import { carry, type PortConnection } from '../network/serve-port.ts';

export type ScreenWish = 'shared' | 'plain' | 'preserve';
export type ScreenOptions = { readonly key: string; readonly folder: string | undefined; readonly wish: ScreenWish };

type Session = { readonly end: () => void };

const NORMAL_CLOSURE = 1000;

export class Screens {
  /** The plain connection of each guest that has one. */
  readonly #plain = new Map<string, Session>();

  /** Connects with the screen of a guest; throws NotFound when it has none, ServiceUnavailable when the last viewer is to be left alone. */
  async connect({ key, folder, wish }: ScreenOptions): Promise<PortConnection> {
    if (wish === 'preserve' && this.#plain.has(key))
      throw new ApiError('ServiceUnavailable', 'somebody else looks at it, and is not to be disturbed');
    const carried = await connectScreen(folder);
    if (wish === 'shared') return carried;
    return (webSocket) => {
      this.#plain.get(key)?.end();
      const session: Session = { end: () => webSocket.close(NORMAL_CLOSURE, 'another client took over the screen') };
      this.#plain.set(key, session);
      webSocket.once('close', () => {
        if (this.#plain.get(key) === session) this.#plain.delete(key);
      });
      carried(webSocket);
    };
  }
}

/** Connects with the screen of the guest whose sockets are in this folder; throws NotFound when it has none. */
export async function connectScreen(folder: string | undefined): Promise<PortConnection> {
  if (folder === undefined) throw new ApiError('NotFound', 'the guest is not here');
  try {
    return carry(await connectUnixSocket(join(folder, VNC_SOCKET)));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw new ApiError('NotFound', 'the guest has no screen', { cause: error });
    throw error;
  }
}
