/**
 * Who a request comes from. First match wins:
 *
 *   verified client certificate      user = common name, groups = organizations
 *   bearer token                     whoever `reviewToken` knows it as; 401 for a token that nobody knows
 *   certificate that is expired,     401: whoever shows one does not mean to be a stranger
 *   or of nobody we know
 *   nothing                          system:anonymous
 *
 * A header that claims an identity is never believed: X-Remote-* is what we tell aggregated servers. Impersonate-* is a wish of
 * whoever this is, granted or refused by access/impersonate.ts.
 */
import { TOKEN_SUBPROTOCOL } from '../../../api/core/token-subprotocol.ts';
import type { Clock } from '../../../base/clock.ts';
import { ApiError } from '../../../base/errors.ts';
import type { Peer } from '../../../base/node/verified-peer.ts';
import { ALL_AUTHENTICATED, ANONYMOUS, type Identity } from './identity.ts';

/** The owner of a token, or undefined when it is not valid. */
export type ReviewToken = (token: string, signal: AbortSignal) => Promise<Identity | undefined>;

export type Credentials = {
  readonly clock: Pick<Clock, 'now'>;
  readonly peer: Peer | undefined;
  /** Why a certificate was shown but not believed. */
  readonly refused?: string;
  readonly headers: Headers;
  readonly reviewToken?: ReviewToken;
  readonly signal: AbortSignal;
};

/** Gives the identity behind the credentials, or throws Unauthorized when they are wrong. */
export async function authenticate({ peer, refused, headers, reviewToken, signal, clock }: Credentials): Promise<Identity> {
  if (peer) {
    const isStillProven = async () => clock.now() <= peer.validUntilMs;
    return { user: peer.commonName, groups: withAuthenticated(peer.organizations), isStillProven };
  }
  const token = tokenFrom(headers);
  if (token === undefined && refused === undefined) return ANONYMOUS;
  const owner = token === undefined ? undefined : await reviewToken?.(token, signal);
  if (!owner) throw new ApiError('Unauthorized', 'Unauthorized');
  const isStillProven = async () => token !== undefined && (await reviewToken?.(token, signal))?.user === owner.user;
  return { ...owner, groups: withAuthenticated(owner.groups), isStillProven };
}

/** True for headers that speak of identities: nothing behind the front door may see what a client put there. */
export function isIdentityHeader(name: string): boolean {
  return /^x-remote-/i.test(name);
}

/** The subprotocols that are no credentials. */
export function withoutToken(subprotocols: string): string {
  return splitList(subprotocols)
    .filter((each) => !each.startsWith(TOKEN_SUBPROTOCOL))
    .join(', ');
}

function tokenFrom(headers: Headers): string | undefined {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '')?.[1];
  if (bearer !== undefined) return bearer;
  const subprotocol = splitList(headers.get('sec-websocket-protocol') ?? '').find((each) => each.startsWith(TOKEN_SUBPROTOCOL));
  return subprotocol && Buffer.from(subprotocol.slice(TOKEN_SUBPROTOCOL.length), 'base64url').toString('utf8');
}

function withAuthenticated(groups: readonly string[]): readonly string[] {
  return [...new Set([...groups, ALL_AUTHENTICATED])];
}

function splitList(value: string): string[] {
  return value
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}
