/**
 * Whether a request came through the API server, and for whom. Only the holder of the front-proxy certificate may say who the user is;
 * from anybody else X-Remote-User is a forgery, whatever authority vouches for them.
 */
import { ApiError } from '../base/errors.ts';
import type { Peer } from '../base/node/verified-peer.ts';

/** Who asks, as the API server in front told us. */
export type Caller = {
  readonly user: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
};

const EXTRA = 'x-remote-extra-';

/** The caller in whose name the front proxy asks; throws Unauthorized for everybody else. */
export function callerBehind(options: {
  readonly peer: Peer | undefined;
  readonly allowedNames: readonly string[];
  /** Names and values in turn, as they came: joined values could not be told from one that holds a comma. */
  readonly rawHeaders: readonly string[];
}): Caller {
  const { peer, allowedNames, rawHeaders } = options;
  // No names means any name, as the API server's own flag has it: the authority signs for the front proxy alone then.
  if (!peer || (allowedNames.length > 0 && !allowedNames.includes(peer.commonName))) throw new ApiError('Unauthorized', 'Unauthorized');
  const headers = byName(rawHeaders);
  const [user = ''] = headers.get('x-remote-user') ?? [];
  if (user === '') return { user: 'system:anonymous', groups: ['system:unauthenticated'] };
  const [uid] = headers.get('x-remote-uid') ?? [];
  const extra = [...headers].filter(([name]) => name.startsWith(EXTRA)).map(([name, values]) => [keyOf(name), values] as const);
  return {
    user,
    groups: headers.get('x-remote-group') ?? [],
    ...(uid && { uid }),
    ...(extra.length > 0 && { extra: Object.fromEntries(extra) }),
  };
}

function byName(rawHeaders: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? '';
    const value = Buffer.from(rawHeaders[at + 1] ?? '', 'latin1').toString('utf8');
    found.set(name, [...(found.get(name) ?? []), value]);
  }
  return found;
}

function keyOf(name: string): string {
  const written = name.slice(EXTRA.length);
  try {
    return decodeURIComponent(written);
  } catch {
    return written; // not encoded, as older servers have it
  }
}
