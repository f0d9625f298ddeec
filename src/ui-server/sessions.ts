/** Who may use the page: a link that works once, then a session that its browser keeps in a cookie. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../base/clock.ts';

/** Long enough to switch to a browser; a link in a shell history is worth nothing afterwards. */
const LINK_LIFE_MS = 10 * 60_000;
const SESSION_LIFE_MS = 12 * 60 * 60_000;
/** The oldest session ends when there is one more. */
const MAX_SESSIONS = 64;
const TOKEN = /^(\d{1,15})\.([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

/** The secret part of a link; whoever knows the key can make one, so the key is kept where only its user reads. */
export function makeLinkToken(key: string, clock: Pick<Clock, 'now'>): string {
  const head = `${clock.now() + LINK_LIFE_MS}.${randomBytes(16).toString('base64url')}`;
  return `${head}.${signatureOf(key, head)}`;
}

export type Sessions = {
  /** A new session for a link that was not used before; undefined when it is no link, too old, or was used. */
  enter(token: string): string | undefined;
  has(session: string): boolean;
};

export function createSessions(key: string, clock: Pick<Clock, 'now'>): Sessions {
  const used = new Map<string, number>();
  const sessions = new Map<string, number>();

  return {
    enter(token) {
      const [, expires = '', nonce = '', signature = ''] = TOKEN.exec(token) ?? [];
      const now = clock.now();
      for (const [each, until] of used) if (until < now) used.delete(each);
      if (!isSame(signature, signatureOf(key, `${expires}.${nonce}`)) || Number(expires) < now || used.has(nonce)) return undefined;
      used.set(nonce, Number(expires));
      const session = randomBytes(32).toString('base64url');
      const [oldest] = sessions.keys();
      if (sessions.size >= MAX_SESSIONS && oldest !== undefined) sessions.delete(oldest);
      sessions.set(session, now + SESSION_LIFE_MS);
      return session;
    },
    has: (session) => (sessions.get(session) ?? 0) > clock.now(),
  };
}

function signatureOf(key: string, head: string): string {
  return createHmac('sha256', key).update(head).digest('base64url');
}

function isSame(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
