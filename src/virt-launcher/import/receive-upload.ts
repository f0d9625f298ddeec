/**
 * Takes a disk that somebody sends, at a door for virt-api alone: it shows the certificate of a client of virt-handler, and has looked who
 * sends what. Whoever lost the connection goes on where the file ends. What is no disk is refused with the reason, and something else can be
 * sent; when the disk is there, the door closes.
 */
import { UPLOAD_DIGEST_HEADER, UPLOAD_DOOR, UPLOAD_PORT, type UploadState, WITHOUT_WAITING } from '../../api/importer/upload.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError, messageOf, UserError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { VIRT_HANDLER_CLIENT_NAME } from '../../base/node/pki.ts';
import { issueAuthority, issueLeaf } from '../../base/node/pki-issue.ts';
import { explainSystemError } from '../../base/node/system-error.ts';
import { startWebServer } from '../../base/node/web-server.ts';
import { digestOfFile } from '../../images/import/file-digest.ts';
import type { Incoming } from './fill-claim.ts';
import { UploadFile } from './upload-file.ts';

export type ReceiveOptions = Incoming & {
  /** Where to listen. */
  readonly host: string;
  readonly port?: number;
  /** PEM: who vouches for virt-api. */
  readonly authority: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly onState: (state: UploadState) => void;
  readonly onListening?: (port: number) => void;
};

const SERVER_NAME = 'virt-importer';
const LIFE_MS = 30 * 24 * 60 * 60 * 1000;
const CLOCK_MARGIN_MS = 2 * 60 * 60 * 1000;
/** How long a client that need not wait does: mistakes of most files are found in less, and are told. */
const PATIENCE_MS = 20_000;

/** Resolves when the disk has its name. */
export async function receiveUpload(options: ReceiveOptions): Promise<void> {
  const { host, port = UPLOAD_PORT, authority, clock, log, signal, onState } = options;
  const upload = new Upload(options);
  const server = await startWebServer({
    serving: await ownCertificate(clock.now()),
    clientCa: authority,
    requiresCertificate: true,
    host,
    port,
    clock,
    log,
    admit({ peer }) {
      if (peer?.commonName !== VIRT_HANDLER_CLIENT_NAME) throw new ApiError('Forbidden', 'only virt-api brings uploads');
    },
    handle: (request) => upload.answer(request),
  });
  options.onListening?.(server.port);
  onState(upload.state());
  try {
    await upload.done(signal);
  } finally {
    await server.close();
  }
}

class Upload {
  readonly #options: ReceiveOptions;
  readonly #file: UploadFile;
  readonly #whole = Promise.withResolvers<void>();
  #stage: UploadState['stage'] = 'waiting';
  #failure: string | undefined;

  constructor(options: ReceiveOptions) {
    this.#options = options;
    this.#file = new UploadFile(options);
  }

  state(): UploadState {
    return { stage: this.#stage, ...this.#file.state(), ...(this.#failure !== undefined && { failure: this.#failure }) };
  }

  async done(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#whole.reject(signal.reason), { once: true });
    await this.#whole.promise;
  }

  async answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname !== UPLOAD_DOOR) throw new ApiError('NotFound', 'there is nothing here but the door of an upload');
    if (request.method === 'GET' || request.method === 'HEAD') return Response.json(this.state());
    if (request.method !== 'PUT' && request.method !== 'POST')
      throw new ApiError('MethodNotAllowed', 'GET, HEAD, PUT and POST are possible');
    if (this.#stage === 'processing' || this.#stage === 'done')
      throw new ApiError('Conflict', 'a disk is being made of what was sent before');
    const path = await this.#take(request);
    if (path !== undefined) await this.#finish(path, request.headers.get(UPLOAD_DIGEST_HEADER), searchParams.has(WITHOUT_WAITING));
    return Response.json(this.state());
  }

  async #take(request: Request): Promise<string | undefined> {
    this.#say('receiving', undefined);
    const shown = setInterval(() => this.#options.onState(this.state()), 500);
    try {
      return await this.#file.take(request);
    } catch (error) {
      if (error instanceof ApiError && error.reason !== 'Conflict' && !request.signal.aborted) this.#failure = error.message;
      throw error;
    } finally {
      clearInterval(shown);
      this.#options.onState(this.state());
    }
  }

  async #finish(path: string, digest: string | null, isInAHurry: boolean): Promise<void> {
    this.#say('processing', undefined);
    const patience = new AbortController();
    const work = this.#become(path, digest).finally(() => patience.abort());
    if (!isInAHurry) return work;
    work.catch(() => {}); // it is in the state
    await Promise.race([work, this.#options.clock.sleep(PATIENCE_MS, patience.signal)]);
  }

  async #become(path: string, digest: string | null): Promise<void> {
    const { finish, signal } = this.#options;
    try {
      if (digest !== null) await assertDigest(path, digest, signal);
      await finish(path, signal);
      this.#stage = 'done';
      setImmediate(() => this.#whole.resolve()); // after the answer
    } catch (error) {
      this.#file.giveBack();
      // What was sent is here, and another Pod goes on with it.
      if (signal.aborted) throw new ApiError('ServiceUnavailable', 'the disk was not made: its Pod ends', { cause: error });
      const said = explainSystemError(error) ?? error;
      if (said instanceof UserError && said.code !== 'DISK_FULL') this.#file.remove();
      this.#say('waiting', said instanceof UserError ? [said.message, said.why, said.fix].filter(Boolean).join(': ') : messageOf(said));
      throw new ApiError('Invalid', this.#failure ?? '', { cause: error });
    }
  }

  #say(stage: UploadState['stage'], failure: string | undefined): void {
    [this.#stage, this.#failure] = [stage, failure];
    this.#options.onState(this.state());
  }
}

async function assertDigest(path: string, digest: string, signal: AbortSignal): Promise<void> {
  const found = await digestOfFile(path, 'sha256:', signal);
  if (found !== `sha256:${digest.toLowerCase()}`)
    throw new UserError('DIGEST_MISMATCH', 'the file is not what was sent', {
      why: `it is ${found}, not sha256:${digest.slice(0, 64)}`,
      fix: 'send it again',
    });
}

/** Nobody knows it: who connects here knows the Pod by its address. */
async function ownCertificate(nowMs: number) {
  const validity = { notBeforeMs: nowMs - CLOCK_MARGIN_MS, notAfterMs: nowMs + LIFE_MS };
  const authority = await issueAuthority({ commonName: SERVER_NAME }, validity);
  return issueLeaf(authority, { subject: { commonName: SERVER_NAME }, use: 'server', dnsNames: [SERVER_NAME] }, validity);
}
