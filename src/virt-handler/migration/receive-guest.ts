/** The target of a move: QEMU takes disks and memory, and then the guest goes on here. That it may is decided before, elsewhere. */
import { INCOMING_SOCKETS } from '../../api/launcher/files.ts';
import { isObject } from '../../base/json.ts';
import type { DomainCommand } from '../vmi/domain-command.ts';
import type { Performer } from '../vmi/performer.ts';
import { MOVE_CAPABILITIES } from './send-guest.ts';

const POLL_MS = 20;
const LOAD_MS = 30_000;

/** Resolves when QEMU listens for both streams. */
export async function receiveGuest({ qmp }: Pick<Performer, 'qmp'>, { disks }: Extract<DomainCommand, { name: 'receive' }>): Promise<void> {
  await qmp.execute('migrate-set-capabilities', { capabilities: MOVE_CAPABILITIES });
  await qmp.execute('nbd-server-start', { addr: { type: 'unix', data: { path: INCOMING_SOCKETS.disks } } });
  for (const disk of disks)
    await qmp.execute('block-export-add', { type: 'nbd', id: `take-${disk}`, 'node-name': disk, name: disk, writable: true });
  await qmp.execute('migrate-incoming', { uri: `unix:${INCOMING_SOCKETS.memory}` });
}

/** Resolves when the guest runs here, or stands still as it did before. Its disks are taken from whoever wrote to them before it does. */
export async function letArrive(
  { qmp, clock, news }: Pick<Performer, 'qmp' | 'clock' | 'news'>,
  { runs }: Extract<DomainCommand, { name: 'arrive' }>,
): Promise<void> {
  const deadline = clock.steady() + LOAD_MS;
  for (;;) {
    const told = news?.();
    const answer = await qmp.execute('query-status');
    if (!isObject(answer) || answer['status'] !== 'inmigrate') break;
    if (clock.steady() >= deadline) throw new Error('QEMU does not finish loading the guest');
    await clock.sleep(POLL_MS, told);
  }
  await qmp.execute('nbd-server-stop').catch(() => {}); // stopped by a try before this one
  if (runs) await qmp.execute('cont');
}
