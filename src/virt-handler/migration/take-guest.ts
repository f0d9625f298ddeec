/** The door of a node for a guest that comes from another one: bytes go to the QEMU that waits for it, and to no other. */
import { join } from 'node:path';
import { INCOMING_SOCKETS, type MoveChannel } from '../../api/launcher/files.ts';
import { ApiError } from '../../base/errors.ts';
import { connectUnixSocket } from '../../qemu/qmp/connect-socket.ts';
import { carryBytes } from '../network/serve-port.ts';
import type { StreamConnection } from '../server/stream-connection.ts';
import type { Guest } from '../vmi/domains.ts';

/** Connects one stream of the move with this uid. */
export async function takeGuest(guest: Guest, { uid, channel }: { uid: string; channel: MoveChannel }): Promise<StreamConnection> {
  const { vmi, session, folder } = guest;
  if (vmi.status?.migrationState?.migrationUid !== uid || session.domain.commands['receive']?.is !== 'done')
    throw new ApiError('Conflict', 'no guest of this migration is waited for here');
  const socket = await connectUnixSocket(join(folder, INCOMING_SOCKETS[channel]));
  return { carry: carryBytes(socket), abandon: () => socket.destroy() };
}
