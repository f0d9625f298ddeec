/** What people are told when a registry cannot be reached or does not take what they send. Nothing of a login is in it but its file. */
import { stripVTControlCharacters } from 'node:util';
import { UserError } from '../base/errors.ts';
import { isObject } from '../base/json.ts';
import { readBytes } from '../base/read-bytes.ts';
import { type Login, loginHost } from './registry-login.ts';

const MAX_SAID = 300;
const MAX_READ_BYTES = 64 * 2 ** 10;
const PERMISSION = 6;
const NO_SERVER = 8;

const HTTP_ONLY = 'it speaks plain http: say --plain-http, or http:// where its whole address is given';
const HTTPS_ONLY = 'it speaks https: leave --plain-http out, or say https:// where its whole address is given';
/** By the code of the failure; the first that matches is what people are told. */
type Row = { readonly code: RegExp; readonly scheme: 'http:' | 'https:'; readonly why?: string; readonly fix: string };
const KNOWN_FAILURES: readonly Row[] = [
  {
    code: /^(ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)|EPROTO)$/,
    scheme: 'https:',
    why: 'its answer is not https', // OpenSSL's words are for those who know its sources
    fix: HTTP_ONLY,
  },
  {
    code: /^(SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_(GET_ISSUER|VERIFY))/,
    scheme: 'https:',
    why: 'its certificate is from an authority that is not known here',
    fix: 'name a file with the certificate of that authority in $NODE_EXTRA_CA_CERTS',
  },
  { code: /^(ECONNRESET|UND_ERR_SOCKET|HPE_\w+)$/, scheme: 'http:', fix: `if ${HTTPS_ONLY}` },
];

/** A connection that failed. */
export function unreachable(address: string, error: unknown): UserError {
  if (error instanceof UserError) return error; // it was not asked
  const { cause = error } = error as { cause?: unknown };
  const { code = '', message = '' } = cause as { code?: string; message?: string };
  const known = KNOWN_FAILURES.find((row) => row.code.test(code) && address.startsWith(row.scheme));
  return new UserError('REGISTRY_UNREACHABLE', `cannot reach the registry ${address}`, {
    why: known?.why ?? (message.trim() || code), // of several addresses that all failed there is only a code
    fix: known?.fix ?? 'check its address, and whether it speaks http or https',
    exitCode: NO_SERVER,
    cause: error,
  });
}

/** Servers that expect https say so to whoever does without, each in its own words. */
export function expectsHttps(address: string, { status, said }: { status: number; said: string }): UserError | undefined {
  if (!address.startsWith('http:') || status !== 400 || !/https/i.test(said)) return undefined;
  return new UserError('REGISTRY_UNREACHABLE', `the registry ${address} does not take plain http`, {
    why: `it answered ${status} ${said}`,
    fix: HTTPS_ONLY,
    exitCode: NO_SERVER,
  });
}

/** 401 and 403, from the registry or from where it gives out tokens. */
export function refused(options: {
  readonly address: string;
  readonly login: Login | undefined;
  readonly status: number;
  readonly said: string;
  readonly doing: 'push' | 'pull';
}): UserError {
  const { address, login, status, said, doing } = options;
  const { why, fix } = adviceFor(login, loginHost(address), doing);
  return new UserError('REGISTRY_FORBIDS', `the registry ${address} does not ${doing === 'push' ? 'take' : 'give out'} the image`, {
    why: `it answered ${`${status} ${said}`.trim()}; ${why}`,
    fix,
    exitCode: PERMISSION,
  });
}

function adviceFor(login: Login | undefined, host: string, doing: 'push' | 'pull'): { why: string; fix: string } {
  const logIn = `podman login ${host} or docker login ${host}`;
  const byHand = `name a file in $REGISTRY_AUTH_FILE with {"auths":{"${host}":{"auth":"USER:PASSWORD in base64"}}}`;
  switch (login?.kind) {
    case undefined:
      return { why: `there is no login for ${host} where podman and docker keep them`, fix: `${logIn}; or ${byHand}` };
    case 'helper':
      return { why: `the login for ${host} is kept by the helper "${login.helper}" (${login.file}), which is not run`, fix: byHand };
    case 'password':
      return {
        why: `the login for ${host} is from ${login.file}`,
        fix: `${logIn}, with an account that may ${doing === 'push' ? 'write' : 'read'} there`,
      };
  }
}

/** The words of an answer that are for people, as one line of plain text. */
export async function wordsOf(response: Response): Promise<string> {
  const bytes = await readBytes(response.body, MAX_READ_BYTES, 'the answer').catch(() => new Uint8Array());
  const text = new TextDecoder().decode(bytes);
  return stripVTControlCharacters(messagesIn(text) ?? text)
    .replace(/[^ -~\u00a0-\uffff]+/g, ' ')
    .trim()
    .slice(0, MAX_SAID);
}

/** `{"errors": [{"code": …, "message": …}]}` is how the distribution API says it. */
function messagesIn(text: string): string | undefined {
  try {
    const { errors } = JSON.parse(text) as { errors?: unknown };
    if (!Array.isArray(errors)) return undefined;
    return errors.flatMap((error) => (isObject(error) && typeof error['message'] === 'string' ? [error['message']] : [])).join(', ');
  } catch {
    return undefined;
  }
}
