/** A registry that speaks as much of the distribution API as pushes and pulls need, over real HTTP, and remembers what it was asked. */
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type TestRegistryOptions = {
  /** How it wants to know who asks; nobody is asked unless said. */
  readonly access?: 'basic' | 'bearer';
  /** Who gets in, as `USER:PASSWORD`; with tokens, anybody unless said. */
  readonly account?: string;
  /** Uploads go to the other host. */
  readonly hasUploadsElsewhere?: boolean;
  /** After so many requests a token is no good any more. */
  readonly tokenUses?: number;
  /** What it says of itself instead of the truth. */
  readonly realm?: string;
  /** So many bytes of a blob are sent at most before the connection breaks. */
  readonly breaksAfterBytes?: number;
  /** So many bytes of a blob are sent, and then nothing more. */
  stallsAfterBytes?: number | undefined;
  /** Where it sends whoever asks for a blob. */
  readonly blobsAt?: (digest: string) => string;
  /** So many requests for a blob are answered with 500 first. */
  failuresLeft?: number;
  /** Blobs come a byte at a time. */
  readonly comesInBytes?: boolean;
  /** Ranges are not known to it. */
  readonly hasNoRanges?: boolean;
};
type Asked = { readonly at: 'registry' | 'elsewhere'; readonly what: string; readonly authorization: string | undefined };

export class TestRegistry implements AsyncDisposable {
  readonly blobs = new Map<string, Buffer>();
  /** By `NAME:TAG`. */
  readonly manifests = new Map<string, { readonly type: string; readonly body: string }>();
  readonly asked: Asked[] = [];
  /** The parts of blobs that were asked for. */
  readonly ranges: string[] = [];
  readonly #byDigest = new Map<string, { readonly type: string; readonly body: string }>();
  #options: TestRegistryOptions;
  #tokens = new Map<string, number>();
  #registry: Server;
  /** Another host, as another port is one: it gives out tokens and takes uploads. */
  #elsewhere: Server;

  private constructor(options: TestRegistryOptions) {
    this.#options = options;
    this.#registry = createServer(this.#listener('registry', this.#answer));
    this.#elsewhere = createServer(this.#listener('elsewhere', this.#answerElsewhere));
  }

  static async start(options: TestRegistryOptions = {}): Promise<TestRegistry> {
    const registry = new TestRegistry(options);
    for (const server of [registry.#registry, registry.#elsewhere]) await once(server.listen(0, '127.0.0.1'), 'listening');
    return registry;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of [this.#registry, this.#elsewhere]) {
      server.closeAllConnections();
      await new Promise((done) => server.close(done)); // of one that is closed already, too
    }
  }

  get host(): string {
    return hostOf(this.#registry);
  }

  /** What was asked of whom, and what came along to prove who asked. */
  whoGotWhat(): string[] {
    return [...new Set(this.asked.map(({ at, authorization = 'nothing' }) => `${at} ${authorization.replace(/^Bearer .*/, 'a token')}`))];
  }

  #listener(at: Asked['at'], answer: (request: IncomingMessage, body: Buffer, response: ServerResponse) => void): RequestListener {
    return async (request, response) => {
      this.asked.push({ at, what: `${request.method} ${request.url}`, authorization: request.headers.authorization });
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      answer.call(this, request, Buffer.concat(chunks), response);
    };
  }

  #answer(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const { method, url = '', headers } = request;
    const [path = '', query] = url.split('?');
    const [, name = '', kind = '', rest = ''] = /^\/v2\/(.+)\/(blobs|manifests)\/(.*)$/.exec(path) ?? [];
    if (!this.#isWelcome(headers.authorization)) this.#challenge(response);
    else if (path === '/v2/') response.end();
    else if (method === 'HEAD' && kind === 'blobs') response.writeHead(this.blobs.has(rest) ? 200 : 404).end();
    else if (method === 'GET' && kind === 'blobs') this.#sendBlob(rest, headers.range, response);
    else if (method === 'GET' && kind === 'manifests') {
      const found = this.manifests.get(`${name}:${rest}`) ?? this.#byDigest.get(`${name}:${rest}`);
      if (found) response.writeHead(200, { 'content-type': found.type }).end(found.body);
      else response.writeHead(404).end('{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}');
    } else if (method === 'POST' && rest === 'uploads/') {
      const base = this.#options.hasUploadsElsewhere ? `http://${hostOf(this.#elsewhere)}` : '';
      response.writeHead(202, { location: `${base}${path}${randomUUID()}?state=kept` }).end();
    } else if (method === 'PUT' && kind === 'blobs') this.#upload(query, body, response);
    else if (method === 'PUT' && kind === 'manifests') {
      const { config, layers } = JSON.parse(String(body)) as { config: { digest: string }; layers: { digest: string }[] };
      const isWhole = [config, ...layers].every(({ digest }) => this.blobs.has(digest));
      const manifest = { type: headers['content-type'] ?? '', body: String(body) };
      if (isWhole) this.manifests.set(`${name}:${rest}`, manifest);
      if (isWhole) this.#byDigest.set(`${name}:${digestOf(body)}`, manifest);
      response.writeHead(isWhole ? 201 : 400).end();
    } else response.writeHead(405).end();
  }

  #answerElsewhere(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const { pathname, searchParams, search } = new URL(request.url ?? '', 'http://elsewhere');
    const { account, tokenUses = Number.POSITIVE_INFINITY } = this.#options;
    const isAsked = searchParams.get('service') === 'the registry' && /^repository:.+:pull(,push)?$/.test(searchParams.get('scope') ?? '');
    if (pathname !== '/token') this.#upload(search.slice(1), body, response);
    else if (account !== undefined && request.headers.authorization !== basic(account))
      response.writeHead(401).end('{"errors":[{"code":"DENIED","message":"who are you?"}]}');
    else if (!isAsked) response.writeHead(400).end();
    else {
      const token = randomUUID();
      this.#tokens.set(token, tokenUses);
      response.end(JSON.stringify({ token }));
    }
  }

  #sendBlob(digest: string, range: string | undefined, response: ServerResponse): void {
    const { breaksAfterBytes, stallsAfterBytes, blobsAt, hasNoRanges, failuresLeft = 0, comesInBytes = false } = this.#options;
    const blob = this.blobs.get(digest);
    if (range !== undefined) this.ranges.push(range);
    const from = hasNoRanges ? 0 : Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
    if (failuresLeft > 0) {
      this.#options.failuresLeft = failuresLeft - 1;
      response.writeHead(500).end('{"errors":[{"code":"UNKNOWN","message":"try later"}]}');
    } else if (blobsAt) response.writeHead(307, { location: blobsAt(digest) }).end();
    else if (!blob) response.writeHead(404).end();
    else {
      const rest = blob.subarray(from);
      const head = from > 0 ? { 'content-range': `bytes ${from}-${blob.length - 1}/${blob.length}` } : {};
      response.writeHead(from > 0 ? 206 : 200, { ...head, 'content-length': rest.length });
      if (comesInBytes) sendByByte(response, rest);
      else if (stallsAfterBytes !== undefined && rest.length > stallsAfterBytes) response.write(rest.subarray(0, stallsAfterBytes));
      else if (breaksAfterBytes === undefined || rest.length <= breaksAfterBytes) response.end(rest);
      else response.write(rest.subarray(0, breaksAfterBytes), () => response.destroy());
    }
  }

  #upload(query = '', body: Buffer, response: ServerResponse): void {
    const parameters = new URLSearchParams(query);
    const digest = digestOf(body);
    const isRight = parameters.get('digest') === digest && parameters.get('state') === 'kept';
    if (isRight) this.blobs.set(digest, body);
    response.writeHead(isRight ? 201 : 400).end();
  }

  #isWelcome(authorization = ''): boolean {
    const { access, account = '' } = this.#options;
    if (access === undefined) return true;
    if (access === 'basic') return authorization === basic(account);
    const token = authorization.replace('Bearer ', '');
    const uses = this.#tokens.get(token) ?? 0;
    this.#tokens.set(token, uses - 1);
    return uses > 0;
  }

  #challenge(response: ServerResponse): void {
    const { access, realm = `http://${hostOf(this.#elsewhere)}/token` } = this.#options;
    const bearer = `Bearer realm="${realm}",service="the registry",scope="repository:x:pull"`;
    response.writeHead(401, { 'www-authenticate': access === 'basic' ? 'Basic realm="here"' : bearer }).end('{"errors":[]}');
  }
}

/** The header that stands for an account. */
export function basic(account: string): string {
  return `Basic ${Buffer.from(account).toString('base64')}`;
}

export function digestOf(body: Uint8Array): string {
  return `sha256:${createHash('sha256').update(body).digest('hex')}`;
}

function hostOf(server: Server): string {
  return `127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
}

/** As slowly as it can be, for as long as somebody listens. */
function sendByByte(response: ServerResponse, rest: Buffer): void {
  if (response.destroyed) return;
  if (rest.length === 0) response.end();
  else response.write(rest.subarray(0, 1), () => setImmediate(() => sendByByte(response, rest.subarray(1))));
}
