/** Who may use the page: a link that works once, then a session that its browser keeps in a cookie. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../base/clock.ts';

/** Long enough to switch to a browser; a link in a shell history is worth nothing afterwards. */
const LINK_LIFE_MS = 10 * 60_000;
const SESSION_LIFE_MS = 12 * 60 * 60_000;
const TOKEN = /^(\d{1,15})\.([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

/** Whoever knows one can let himself in, so they are kept where only their user reads. */
export type SessionKeys = {
  /** Of links; a new one with each start of the server, so that no link works twice. */
  readonly link: string;
  /** Of what a browser keeps; a server that has it again knows its browsers again. */
  readonly session: string;
};

/** The secret part of a link. */
export function makeLinkToken(key: SessionKeys['link'], clock: Pick<Clock, 'now'>): string {
  return signed(key, clock.now() + LINK_LIFE_MS);
}

/** An address that lets one browser in at the server with this key. */
export function linkTo(port: number, key: SessionKeys['link'], clock: Pick<Clock, 'now'>): string {
  return `http://127.0.0.1:${port}/enter?token=${makeLinkToken(key, clock)}`;
}

export type Sessions = {
  /** Browsers send cookies to every port of a host: it is of the server, wherever it listens, and of no other one. */
  readonly cookieName: string;
  /** A new session for a link that was not used before; undefined when it is no link, too old, or was used. */
  enter(token: string): string | undefined;
  has(session: string): boolean;
};

export function createSessions(keys: SessionKeys, clock: Pick<Clock, 'now'>): Sessions {
  const used = new Map<string, number>();

  return {
    cookieName: `kubevirt-ts-${signatureOf(keys.session, 'name of the cookie').slice(0, 12)}`,
    enter(token) {
      const now = clock.now();
      for (const [each, until] of used) if (until < now) used.delete(each);
      const link = readSigned(keys.link, token);
      if (!link || link.expires < now || used.has(link.nonce)) return undefined;
      used.set(link.nonce, link.expires);
      return signed(keys.session, now + SESSION_LIFE_MS);
    },
    has: (session) => (readSigned(keys.session, session)?.expires ?? 0) > clock.now(),
  };
}

function signed(key: string, expires: number): string {
  const head = `${expires}.${randomBytes(16).toString('base64url')}`;
  return `${head}.${signatureOf(key, head)}`;
}

function readSigned(key: string, token: string): { readonly expires: number; readonly nonce: string } | undefined {
  const [, expires = '', nonce = '', signature = ''] = TOKEN.exec(token) ?? [];
  return isSame(signature, signatureOf(key, `${expires}.${nonce}`)) ? { expires: Number(expires), nonce } : undefined;
}

function signatureOf(key: string, head: string): string {
  return createHmac('sha256', key).update(head).digest('base64url');
}

function isSame(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
