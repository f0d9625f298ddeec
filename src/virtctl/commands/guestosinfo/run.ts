/** What system a guest runs. */
import type { ClusterDeps, ConnectionFlags } from '../../deps.ts';
import { showGuestInfo } from '../../guest-info/show.ts';

export function run(deps: ClusterDeps, _flags: ConnectionFlags, ...words: string[]): Promise<void> {
  return showGuestInfo(deps, { verb: 'guestosinfo', subresource: 'guestosinfo', words });
}
