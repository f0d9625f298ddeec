/**
 * One repository of a registry (the distribution API, version 2). Asks without a login first: the answer says whether one is wanted, and
 * of what kind. A login goes to the registry itself and to where it says that its tokens are given out, and nowhere else.
 */
import { ApiError } from '../base/errors.ts';
import type { Fetch } from './guarded-fetch.ts';
import { expectsHttps, refused, unreachable, wordsOf } from './registry-errors.ts';
import type { Login } from './registry-login.ts';
import { fetchToken, parseChallenge } from './registry-token.ts';

export type RegistryOptions = {
  /** `https://registry.example` or, for one of a test, `http://…`. */
  readonly registry: string;
  readonly repository: string;
  readonly login?: Login | undefined;
  readonly signal?: AbortSignal | undefined;
  /** What it is asked for; `push` when left out. */
  readonly doing?: 'push' | 'pull';
  /** The built-in one when left out. */
  readonly fetch?: Fetch;
};

type Request = {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT';
  /** A path of the registry, or a whole address. */
  readonly to: string | URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called once for each attempt. */
  readonly body?: () => ReadableStream;
  /** Every other answer is an error. */
  readonly expected: readonly number[];
  /** That of the registry when left out. */
  readonly signal?: AbortSignal;
};

export type Registry = {
  /** The head of the answer; its body is of no interest. */
  send(request: Request): Promise<{ readonly status: number; readonly location: URL | undefined }>;
  /** The answer, with its body still to be read. */
  open(request: Request): Promise<Response>;
};

export function openRegistry(options: RegistryOptions): Registry {
  const { registry: address, login, doing = 'push', fetch: send = fetch } = options;
  const { origin } = new URL(address);
  let authorization: string | undefined;

  const ask = async ({ method, to, headers, body, signal = options.signal }: Request): Promise<Response> => {
    const url = new URL(to, address);
    const isOwn = url.origin === origin; // uploads may go to another host, which has no business with the login
    const init = {
      method,
      headers: { ...headers, ...(isOwn && authorization !== undefined && { authorization }) },
      ...(body && { body: body(), duplex: 'half' }), // a body that is a stream needs it, and node's types do not know it
      ...(signal && { signal }),
    } as RequestInit;
    return send(url, init).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw unreachable(isOwn ? address : url.origin, error);
    });
  };

  const open = async (request: Request): Promise<Response> => {
    let response = await ask(request);
    // Of a host that the registry sent us to nobody takes orders where the login is to go.
    if (response.status === 401 && new URL(response.url).origin === origin) {
      const next = await authorizationFor(response, options);
      if (next !== undefined && next !== authorization) {
        await response.body?.cancel();
        authorization = next;
        response = await ask(request);
      }
    }
    const { status } = response;
    const isRefused = status === 401 && !authorization?.startsWith('Bearer '); // a token may be good for other paths, a password is for all
    if (isRefused || !request.expected.includes(status)) throw await failure(response, { address, login, request, doing });
    return response;
  };

  return {
    open,
    async send(request) {
      const response = await open(request);
      const { status, headers, url } = response;
      await response.arrayBuffer();
      const location = headers.get('location');
      return { status, location: location !== null && URL.canParse(location, url) ? new URL(location, url) : undefined };
    },
  };
}

/** What the answer asks for; undefined when we have nothing of that kind. */
async function authorizationFor(response: Response, options: RegistryOptions): Promise<string | undefined> {
  const { registry: address, repository, login, signal, doing = 'push', fetch: send } = options;
  const challenge = parseChallenge(response.headers.get('www-authenticate'));
  switch (challenge?.scheme) {
    case undefined:
      return undefined;
    case 'basic':
      return login?.kind === 'password' ? login.authorization : undefined;
    case 'bearer':
      return `Bearer ${await fetchToken({ challenge, address, repository, login, signal, doing, ...(send && { fetch: send }) })}`;
  }
}

type Asked = {
  readonly address: string;
  readonly login: Login | undefined;
  readonly request: Request;
  readonly doing: 'push' | 'pull';
};

async function failure(response: Response, { address, login, request, doing }: Asked): Promise<Error> {
  const { status } = response;
  const said = await wordsOf(response);
  const url = new URL(response.url);
  if (status === 401 || status === 403) return refused({ address, login, status, said, doing });
  const mismatch = expectsHttps(address, { status, said });
  if (mismatch) return mismatch;
  // without what is behind the question mark, which may be a key to the upload
  return new ApiError('InternalError', `the registry ${address} answered ${status} to ${request.method} ${url.pathname}: ${said}`);
}
