/** The door of a node for a guest that comes from another one: bytes go to the QEMU that waits for it, and to no other. */
import { join } from 'node:path';
import type { WebSocket } from 'ws';
import type { GuestHost } from '../../api/handler/guest-host.ts';
import type { MigrationQuestion } from '../../api/handler/questions.ts';
import { INCOMING_SOCKETS } from '../../api/launcher/files.ts';
import { ApiError } from '../../base/errors.ts';
import { joinSockets } from '../../base/node/join-sockets.ts';
import { connectUnixSocket } from '../../qemu/qmp/connect-socket.ts';
import type { BytesConnection, StreamConnection } from '../server/stream-connection.ts';
import type { Guest } from '../vmi/domains.ts';
import { hostOf, whyUnlike } from './guest-host.ts';

/** More than is kept of it anywhere. */
const MOST_PRINTED_BYTES = 2 * 1024 * 1024;
const NORMAL_CLOSURE = 1000;
const TOO_MUCH = 1009;

/** Connects one stream of the move with this uid. */
export async function takeGuest(guest: Guest, { uid, channel, host }: { uid: string } & MigrationQuestion): Promise<BytesConnection> {
  requireAwaited(guest, uid);
  if (host) await requireLike(guest, host);
  const socket = await connectUnixSocket(join(guest.folder, INCOMING_SOCKETS[channel]));
  return { carry: (client) => joinSockets(client, socket), abandon: () => socket.destroy() };
}

/** Takes what the guest of the move with this uid has printed. */
export async function takePrinted(guest: Guest, uid: string): Promise<StreamConnection> {
  requireAwaited(guest, uid);
  return { carry: (webSocket) => readPrinted(guest, webSocket), abandon: () => {} };
}

function requireAwaited({ vmi, session }: Guest, uid: string): void {
  if (vmi.status?.migrationState?.migrationUid !== uid || session.domain.commands['receive']?.is !== 'done')
    throw new ApiError('Conflict', 'no guest of this migration is waited for here');
}

/** Before anything of it is sent. */
async function requireLike({ folder, session, vmi }: Guest, source: GuestHost): Promise<void> {
  const why = whyUnlike(source, await hostOf(folder, (command) => session.execute(command, {})), vmi.spec);
  if (why !== undefined) throw new ApiError('Conflict', why);
}

/** Taken only when all of it has come. */
function readPrinted({ console }: Guest, webSocket: WebSocket): void {
  const pieces: Buffer[] = [];
  let bytes = 0;
  webSocket.on('error', () => webSocket.terminate());
  webSocket.on('message', (data: Buffer) => {
    bytes += data.length;
    if (bytes > MOST_PRINTED_BYTES) webSocket.close(TOO_MUCH);
    else pieces.push(data);
  });
  webSocket.once('close', (code) => {
    if (code === NORMAL_CLOSURE) void console.takePast(Buffer.concat(pieces)).catch(() => {}); // a log that cannot be written to is none
  });
}
