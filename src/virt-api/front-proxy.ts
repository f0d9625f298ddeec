/**
 * Whether a request came through the API server. Only the holder of the front-proxy certificate may say who the user is;
 * from anybody else X-Remote-User is a forgery, whatever authority vouches for them.
 */
import { ApiError } from '../base/errors.ts';
import type { Peer } from '../base/node/verified-peer.ts';

/** The user in whose name the front proxy asks; throws Unauthorized for everybody else. */
export function userBehind(options: {
  readonly peer: Peer | undefined;
  readonly allowedNames: readonly string[];
  readonly remoteUser: string | null;
}): string {
  const { peer, allowedNames, remoteUser } = options;
  // No names means any name, as the API server's own flag has it: the authority signs for the front proxy alone then.
  if (!peer || (allowedNames.length > 0 && !allowedNames.includes(peer.commonName))) throw new ApiError('Unauthorized', 'Unauthorized');
  return remoteUser ? Buffer.from(remoteUser, 'latin1').toString('utf8') : 'system:anonymous';
}
