/** Who is signed in: the tokens of people, in memory only, so that a browser has nothing but a name for one and whoever signs out is out. */
import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../base/clock.ts';

const LIFE_MS = 12 * 60 * 60_000;
/** Browsers of one person; the oldest goes for a new one, so that nobody can take the places of others. */
const MOST_OF_A_USER = 10;
/** Of all: 16 KiB each at the most. */
const MOST = 2000;

export type TokenSessions = {
  /** The name of a new session; undefined when there is no place for one. */
  open(of: { readonly user: string; readonly token: string }): string | undefined;
  tokenOf(session: string): string | undefined;
  close(session: string): void;
  /** Ends every session with this token: the cluster does not know it any more. */
  drop(token: string): void;
};

type Kept = { readonly user: string; readonly token: string; readonly until: number };

export function createTokenSessions(clock: Pick<Clock, 'now'>): TokenSessions {
  const kept = new Map<string, Kept>(); // by the digest of its name, the oldest first

  return {
    open({ user, token }) {
      for (const [key, { until }] of kept) if (until <= clock.now()) kept.delete(key);
      const own = [...kept].filter(([, each]) => each.user === user).map(([key]) => key);
      for (const key of own.slice(0, Math.max(0, own.length + 1 - MOST_OF_A_USER))) kept.delete(key);
      if (kept.size >= MOST) return undefined;
      const session = randomBytes(32).toString('base64url');
      kept.set(digestOf(session), { user, token, until: clock.now() + LIFE_MS });
      return session;
    },
    tokenOf(session) {
      const found = session === '' ? undefined : kept.get(digestOf(session));
      return found && found.until > clock.now() ? found.token : undefined;
    },
    close: (session) => void kept.delete(digestOf(session)),
    drop(token) {
      for (const [key, each] of kept) if (each.token === token) kept.delete(key);
    },
  };
}

/** How long a comparison takes tells nothing about names that we gave. */
function digestOf(session: string): string {
  return createHash('sha256').update(session).digest('base64url');
}
