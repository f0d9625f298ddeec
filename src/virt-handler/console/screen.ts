/** The screen of a guest: QEMU's own VNC server, reached through its socket in the Pod's folder. Several may look at a time. */
import { join } from 'node:path';
import { ApiError } from '../../base/errors.ts';
import { VNC_SOCKET } from '../../qemu/convert/input.ts';
import { codeOf, connectUnixSocket } from '../../qemu/qmp/connect-socket.ts';
import { carry, type PortConnection } from '../network/serve-port.ts';

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
