/**
 * The door of a page for many: people come in with a token that the cluster knows, by the form or in the header that a proxy in front of us
 * sets, and act with the rights of that token. We have none of our own to lend.
 */
import { isObject } from '../base/json.ts';
import { cookieOf, type RequestHeaders, textOf } from './decide-request.ts';
import type { Door } from './door.ts';
import { refusalResponse } from './page-headers.ts';
import { signInPage } from './sign-in-page.ts';
import type { TokenSessions } from './token-sessions.ts';

/** `__Host-`: browsers take it over TLS alone, and from no neighbouring host. */
export const SESSION_COOKIE = '__Host-kubevirt-ts';
const COOKIE_RULES = 'HttpOnly; Secure; SameSite=Strict; Path=/';
const REVIEWS = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const REVIEW = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' });
const TOKEN = /^[\x21-\x7e]{1,16384}$/;
/** A form with the longest token, every byte of it escaped. */
const MOST_FORM_BYTES = 64 * 1024;
/** Tries at once: whoever is not in yet costs the cluster no more. */
const MOST_TRIES = 20;
const PLAIN_ORIGIN = /^http:\/\/(localhost|127\.0\.0\.1)(:\d+)?$/;

export type TokenDoorOptions = {
  readonly sessions: TokenSessions;
  /** Under which the page may be asked for; any when empty. */
  readonly hosts: readonly string[];
  /** Asks the cluster, with this token. */
  ask(path: string, init: RequestInit, token: string): Promise<Response>;
};

export function tokenDoor({ sessions, hosts, ask }: TokenDoorOptions): Door {
  let tries = 0;
  const fromCookie = (headers: RequestHeaders) => sessions.tokenOf(cookieOf(headers, SESSION_COOKIE));
  const tokenOf = (headers: RequestHeaders) => bearerOf(headers) ?? fromCookie(headers);

  /** Who the cluster takes the holder for, or the status of its refusal. */
  async function review(token: string): Promise<{ readonly user: string } | { readonly status: number }> {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: REVIEW };
    const response = await ask(REVIEWS, init, token);
    const user = userIn(await response.json().catch(() => undefined));
    return response.ok && user !== undefined ? { user } : { status: response.status };
  }

  async function signIn(request: Request): Promise<Response> {
    const token = await tokenInForm(request);
    if (token === undefined) return signInPage({ status: 400, trouble: 'That is no token.' });
    const found = await review(token);
    if ('status' in found)
      return found.status === 401
        ? signInPage({ status: 401, trouble: 'The cluster does not know this token, or it has expired.' })
        : signInPage({ status: 502, trouble: `The cluster does not say whose token this is: it answers ${found.status}.` });
    const session = sessions.open({ user: found.user, token });
    if (session === undefined) return signInPage({ status: 503, trouble: 'Too many people are signed in. Try again later.' });
    return away({ 'set-cookie': `${SESSION_COOKIE}=${session}; ${COOKIE_RULES}` });
  }

  return {
    entrance: 'token',
    hostRefusal: (host) =>
      hosts.length === 0 || hosts.includes(host) ? undefined : `this page is at ${hosts.join(' or ')}, not at ${host}`,
    isOwnOrigin: (origin, host) =>
      host !== '' && (origin === `https://${host}` || (origin === `http://${host}` && PLAIN_ORIGIN.test(origin))),
    isInside: (headers) => tokenOf(headers) !== undefined,
    tokenOf,
    userOf: async (token) => (token === undefined ? {} : review(token)),
    refused: sessions.drop,
    async answer({ kind }, request) {
      if (kind === 'sign-out') {
        sessions.close(cookieOf(Object.fromEntries(request.headers), SESSION_COOKIE));
        return away({ 'set-cookie': `${SESSION_COOKIE}=; Max-Age=0; ${COOKIE_RULES}` });
      }
      if (kind !== 'sign-in') return signInPage();
      if (tries >= MOST_TRIES) return refusalResponse(503, 'too many people sign in at once; try again');
      tries += 1;
      try {
        return await signIn(request);
      } finally {
        tries -= 1;
      }
    },
  };
}

/** What a proxy in front of us passes on, or a program says itself. */
function bearerOf(headers: RequestHeaders): string | undefined {
  const [, token = ''] = /^bearer (.*)$/i.exec(textOf(headers['authorization'])) ?? [];
  return TOKEN.test(token) ? token : undefined;
}

async function tokenInForm(request: Request): Promise<string | undefined> {
  const reader = request.body?.getReader();
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.length;
    if (bytes > MOST_FORM_BYTES) return undefined;
    pieces.push(value);
  }
  const token = new URLSearchParams(Buffer.concat(pieces).toString('latin1')).get('token')?.trim() ?? '';
  return TOKEN.test(token) ? token : undefined;
}

function userIn(review: unknown): string | undefined {
  const status = isObject(review) ? review['status'] : undefined;
  const info = isObject(status) ? status['userInfo'] : undefined;
  const name = isObject(info) ? info['username'] : undefined;
  return typeof name === 'string' && name !== '' ? name : undefined;
}

function away(headers: Record<string, string>): Response {
  return new Response(null, { status: 303, headers: { ...headers, location: '/', 'cache-control': 'no-store' } });
}
