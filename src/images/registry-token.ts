/** What a registry asks for when it answers 401, and the tokens that it has somebody else give out (the distribution API's Bearer). */
import { UserError } from '../base/errors.ts';
import { isObject } from '../base/json.ts';
import { readBytes } from '../base/read-bytes.ts';
import type { Fetch } from './guarded-fetch.ts';
import { refused, unreachable, wordsOf } from './registry-errors.ts';
import type { Login } from './registry-login.ts';

type Challenge = { readonly scheme: 'basic' } | { readonly scheme: 'bearer'; readonly realm: string; readonly service: string | undefined };

/** A word that begins a challenge, or a setting of the one before. */
const PART = /([\w-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))|([\w-]+)(?=\s|,|$)/g;
const MAX_ANSWER_BYTES = 2 ** 20;
/** What may be in the header of a token: nothing that ends the line. */
const TOKEN = /^[\w.~+/=-]+$/;

/** Reads `WWW-Authenticate`; of several ways tokens are the better one, as the password then goes to one place only. */
export function parseChallenge(header: string | null): Challenge | undefined {
  const challenges: { scheme: string; settings: Map<string, string> }[] = [];
  for (const [, key = '', quoted, plain, scheme] of (header ?? '').matchAll(PART)) {
    if (scheme) challenges.push({ scheme: scheme.toLowerCase(), settings: new Map() });
    else challenges.at(-1)?.settings.set(key.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '');
  }
  const bearer = challenges.find(({ scheme, settings }) => scheme === 'bearer' && settings.has('realm'))?.settings;
  if (bearer) return { scheme: 'bearer', realm: bearer.get('realm') ?? '', service: bearer.get('service') };
  return challenges.some(({ scheme }) => scheme === 'basic') ? { scheme: 'basic' } : undefined;
}

/** A token to read or write `repository`, for the login or, without one, for anybody. */
export async function fetchToken(options: {
  readonly challenge: { readonly realm: string; readonly service: string | undefined };
  /** Of the registry. */
  readonly address: string;
  readonly repository: string;
  readonly login: Login | undefined;
  readonly signal: AbortSignal | undefined;
  readonly doing: 'push' | 'pull';
  readonly fetch?: Fetch;
}): Promise<string> {
  const { challenge, address, repository, login, signal, doing, fetch: send = fetch } = options;
  const url = realmOf(challenge.realm, address);
  if (challenge.service !== undefined) url.searchParams.set('service', challenge.service);
  url.searchParams.set('scope', `repository:${repository}:${doing === 'push' ? 'pull,push' : 'pull'}`);
  const headers = login?.kind === 'password' && { headers: { authorization: login.authorization } };
  const response = await send(url, { ...headers, ...(signal && { signal }) }).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw unreachable(url.origin, error);
  });
  if (response.status === 401 || response.status === 403)
    throw refused({ address, login, status: response.status, said: await wordsOf(response), doing });
  const token = response.ok ? tokenIn(await jsonOf(response)) : undefined;
  if (token !== undefined) return token;
  await response.body?.cancel().catch(() => {});
  throw noToken(address, `${url.origin} gives out its tokens and answered ${response.status} without one`);
}

/** The password goes there: never in the clear, unless the registry itself is. */
function realmOf(realm: string, address: string): URL {
  if (!URL.canParse(realm)) throw noToken(address, 'it does not say where its tokens are given out');
  const url = new URL(realm);
  const allowed = address.startsWith('http:') ? ['http:', 'https:'] : ['https:'];
  if (allowed.includes(url.protocol)) return url;
  throw noToken(address, `its tokens are given out by ${url.origin}, which is not https`);
}

async function jsonOf(response: Response): Promise<unknown> {
  try {
    return JSON.parse(new TextDecoder().decode(await readBytes(response.body, MAX_ANSWER_BYTES, 'its answer')));
  } catch {
    return undefined; // said by whoever asked
  }
}

function tokenIn(json: unknown): string | undefined {
  const token = isObject(json) ? (json['token'] ?? json['access_token']) : undefined;
  return typeof token === 'string' && TOKEN.test(token) ? token : undefined;
}

function noToken(address: string, why: string): UserError {
  return new UserError('REGISTRY_FORBIDS', `cannot log in to the registry ${address}`, {
    why,
    fix: 'check its address, or ask who runs it',
    exitCode: 6,
  });
}
