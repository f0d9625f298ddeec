/** The refusal to go on with a store that does not know guests which run: it would neither look after them nor know who uses their disks. */
import { UserError } from '../errors.ts';
import { type LivingPod, nameOfPod } from './living-pods.ts';

/** Names the guests and the ways out; `adopt` is the command that leaves them running. */
export function storeForgotGuests(guests: readonly LivingPod[], { home, adopt }: { home: string; adopt: string }): UserError {
  const names = guests.map((guest) => `${nameOfPod(guest)} (process ${guest.containers[0]?.process.pid})`);
  return new UserError('STORE_FORGOT_GUESTS', `guests run here that the store does not know: ${names.join(', ')}`, {
    why: 'they were started under another store, which was moved, lost or replaced by an older one; nothing was ended',
    fix: `put the old store back (${home}/store.db with store.db-wal); or ${adopt}, which leaves them running as they are, outside of the cluster; or virtctl down, which presses their power buttons and waits`,
    exitCode: 4,
  });
}
