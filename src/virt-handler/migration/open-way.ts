/**
 * The way of a guest to another node: sockets beside its QEMU, whose bytes go to the virt-handler there through TLS, both sides with
 * certificates of this installation. QEMU speaks to no network.
 */
import { constants, rmSync } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ClientOptions, WebSocket } from 'ws';
import { queryOf } from '../../api/handler/message.ts';
import { buildRoutePath } from '../../api/handler/route-path.ts';
import { handlerRoute } from '../../api/handler/routes.ts';
import { type MoveChannel, OUTGOING_SOCKETS } from '../../api/launcher/files.ts';
import type { Logger } from '../../base/log.ts';
import type { TlsIdentity } from '../../base/node/https-fetch.ts';
import { joinSockets } from '../../base/node/join-sockets.ts';
import { VIRT_HANDLER_SERVER_NAME } from '../../base/node/pki.ts';
import type { MoveTarget, OpenWay, Way } from '../vmi/domain-command.ts';
import { connectBytes } from './connect-bytes.ts';
import { hostOf } from './guest-host.ts';

export type WayOptions = {
  /** The folder of QEMU. */
  readonly folder: string;
  readonly guest: { readonly namespace: string; readonly name: string };
  /** What we show to the other virt-handler; undefined where this installation has none. */
  readonly identity: () => TlsIdentity | undefined;
  /** What the guest has printed so far, when it prints no more. */
  readonly printed: () => Buffer;
  readonly log: Logger;
};

const HANDSHAKE_MS = 10_000;
/** Of one message. */
const PIECE_BYTES = 256 * 1024;
const NORMAL_CLOSURE = 1000;

export function wayFrom(options: WayOptions): OpenWay {
  return async (to) => {
    const identity = options.identity();
    if (!identity) throw new Error('this virt-handler has no certificate for other virt-handlers');
    const joining = { ...options, identity: { ...identity, servername: VIRT_HANDLER_SERVER_NAME }, to };
    const open = new Set<Duplex>();
    const keep = <Kept extends Duplex>(socket: Kept): Kept => {
      open.add(socket);
      return socket.once('close', () => open.delete(socket)).on('error', () => {});
    };
    let memory: Duplex | undefined;
    let ahead: WebSocket | undefined;
    const connect = async (channel: MoveChannel) => keep(await connectTo(joining, { channel }));
    const channels = Object.keys(OUTGOING_SOCKETS) as MoveChannel[]; // the keys of the table
    const servers = await Promise.all(
      channels.map((channel) =>
        listen(options.folder, OUTGOING_SOCKETS[channel], (socket) => {
          const ahead = channel === 'memory' ? memory : undefined;
          joinTo(keep(socket), ahead ? Promise.resolve(ahead) : connect(channel), { channel, log: options.log });
        }),
      ),
    );
    return {
      async agree(ask) {
        const host = JSON.stringify(await hostOf(options.folder, ask));
        keep(await connectTo(joining, { channel: 'disks', host })).destroy();
      },
      async connectAhead() {
        ahead = printedTo(joining).on('error', () => {}); // then another one is made when it is needed
        memory = await connect('memory');
      },
      sendPrinted: () => sendPrinted(ahead && ahead.readyState <= WebSocket.OPEN ? ahead : printedTo(joining), options.printed()),
      close() {
        ahead?.terminate();
        for (const server of servers) server.close();
        for (const socket of open) socket.destroy();
      },
    };
  };
}

/** What a process before this one left of moves that ended with it. At once, so that it is never one of ours. */
export function removeLeftSockets(folder: string): void {
  for (const name of Object.values(OUTGOING_SOCKETS)) rmSync(`${folder}/${name}`, { force: true });
}

type Joining = Pick<WayOptions, 'guest'> & { readonly identity: TlsIdentity; readonly to: MoveTarget };

/** Resolves when the other side has closed after the last piece. */
function sendPrinted(webSocket: WebSocket, printed: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    webSocket.once('error', reject);
    webSocket.once('close', (code) => (code === NORMAL_CLOSURE ? resolve() : reject(new Error(`closed with ${code}`))));
    const send = () => {
      for (let at = 0; at < printed.length; at += PIECE_BYTES) webSocket.send(printed.subarray(at, at + PIECE_BYTES));
      webSocket.close(NORMAL_CLOSURE);
    };
    if (webSocket.readyState === WebSocket.OPEN) send();
    else webSocket.once('open', send);
  });
}

function printedTo({ guest, identity, to }: Joining): WebSocket {
  const path = buildRoutePath(handlerRoute('migration/printed').path, { ...guest, uid: to.migrationUid });
  const options: ClientOptions = { ...identity, perMessageDeflate: false, handshakeTimeout: HANDSHAKE_MS, minVersion: 'TLSv1.3' };
  return new WebSocket(`wss://${to.host}:${to.port}${path}`, options);
}

function connectTo({ guest, identity, to }: Joining, question: { readonly channel: MoveChannel; readonly host?: string }): Promise<Duplex> {
  const path = buildRoutePath(handlerRoute('migration').path, { ...guest, uid: to.migrationUid });
  return connectBytes({ host: to.host, port: to.port, path: `${path}${queryOf(question)}`, identity });
}

type JoinOptions = Pick<WayOptions, 'log'> & { readonly channel: MoveChannel };

function joinTo(socket: Socket, connected: Promise<Duplex>, { channel, log }: JoinOptions): void {
  connected.then(
    (remote) => joinSockets(socket, remote),
    (error: unknown) => {
      log.warn('the way to the other node is closed', { channel, error });
      socket.destroy();
    },
  );
}

/** Through the open folder: whatever its path, the name is short, and leads nowhere else. The folder stays open, because the name is removed at the end. */
export async function listen(folder: string, name: string, take: (socket: Socket) => void): Promise<Pick<Way, 'close'>> {
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
