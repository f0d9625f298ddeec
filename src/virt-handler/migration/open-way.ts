/**
 * The way of a guest to another node: sockets beside its QEMU, whose bytes go to the virt-handler there through TLS, both sides with
 * certificates of this installation. QEMU speaks to no network.
 */
import { constants } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { type ClientOptions, WebSocket } from 'ws';
import { queryOf } from '../../api/handler/message.ts';
import { buildRoutePath } from '../../api/handler/route-path.ts';
import { handlerRoute } from '../../api/handler/routes.ts';
import { type MoveChannel, OUTGOING_SOCKETS } from '../../api/launcher/files.ts';
import type { Logger } from '../../base/log.ts';
import type { TlsIdentity } from '../../base/node/https-fetch.ts';
import { VIRT_HANDLER_SERVER_NAME } from '../../base/node/pki.ts';
import { carryBytes } from '../network/serve-port.ts';
import type { MoveTarget, OpenWay, Way } from '../vmi/domain-command.ts';

export type WayOptions = {
  /** The folder of QEMU. */
  readonly folder: string;
  readonly guest: { readonly namespace: string; readonly name: string };
  /** What we show to the other virt-handler; undefined where this installation has none. */
  readonly identity: () => TlsIdentity | undefined;
  readonly log: Logger;
};

const HANDSHAKE_MS = 10_000;

export function wayFrom(options: WayOptions): OpenWay {
  return async (to) => {
    const identity = options.identity();
    if (!identity) throw new Error('this virt-handler has no certificate for other virt-handlers');
    const connections = new Set<Socket>();
    const channels = Object.keys(OUTGOING_SOCKETS) as MoveChannel[]; // the keys of the table
    const servers = await Promise.all(
      channels.map((channel) =>
        listen(options.folder, OUTGOING_SOCKETS[channel], (socket) => {
          connections.add(socket);
          socket.once('close', () => connections.delete(socket)).on('error', () => {});
          joinTo(socket, { ...options, identity, to, channel });
        }),
      ),
    );
    return {
      close() {
        for (const server of servers) server.close();
        for (const socket of connections) socket.destroy();
      },
    };
  };
}

type Joining = Omit<WayOptions, 'identity'> & { readonly identity: TlsIdentity; readonly to: MoveTarget; readonly channel: MoveChannel };

function joinTo(socket: Socket, { guest, identity, to, channel, log }: Joining): void {
  socket.pause();
  const path = buildRoutePath(handlerRoute('migration').path, { ...guest, uid: to.migrationUid });
  const options: ClientOptions & { readonly servername: string } = {
    ...identity,
    servername: VIRT_HANDLER_SERVER_NAME,
    perMessageDeflate: false,
    handshakeTimeout: HANDSHAKE_MS,
    minVersion: 'TLSv1.3',
  };
  const webSocket = new WebSocket(`wss://${to.host}:${to.port}${path}${queryOf({ channel })}`, options);
  webSocket.on('error', (error) => {
    log.warn('the way to the other node is closed', { channel, error });
    socket.destroy();
  });
  webSocket.once('open', () => {
    carryBytes(socket)(webSocket);
    socket.resume();
  });
  socket.once('close', () => webSocket.terminate());
}

/** Through the open folder: whatever its path, the name is short, and leads nowhere else. The folder stays open, because the name is removed at the end. */
async function listen(folder: string, name: string, take: (socket: Socket) => void): Promise<Way> {
  await unlink(`${folder}/${name}`).catch(() => {}); // of a move that was cut off
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  const server = createServer(take);
  const close = () => server.close(() => void handle.close());
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      // QEMU is another user, and the folder is closed to all others. A mode that is given later could be given to something else.
      const before = process.umask(0);
      server.listen(`/proc/self/fd/${handle.fd}/${name}`, resolve);
      process.umask(before);
    });
  } catch (error) {
    close();
    throw error;
  }
  return { close };
}
