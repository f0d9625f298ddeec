/** A fetch whose answers a test gives one by one: every request waits until the test answers it. */
import type { KubeObject } from '../api/meta.ts';
import { type Client, createClient } from '../client/client.ts';
import { until } from './until.ts';

type Waiting = { readonly request: Request; readonly answer: (response: Response) => void; readonly fail: (error: Error) => void };

export type ScriptedWatch = { send(type: string, object: object): void; end(): void; fail(error: Error): void };

export class ScriptedApi {
  readonly #waiting: Waiting[] = [];
  readonly client: Client = createClient({
    fetch: (request) => this.#receive(request),
    baseUrl: 'https://kubernetes.default.svc',
    userAgent: 'test',
  });
  /** `GET /api/v1/pods?watch=true`, in the order they came. */
  readonly seen: string[] = [];

  #receive(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    this.seen.push(`${request.method} ${pathname}${search}`);
    return new Promise((answer, fail) => {
      this.#waiting.push({ request, answer, fail });
      request.signal.addEventListener('abort', () => fail(new DOMException('aborted', 'AbortError')), { once: true });
    });
  }

  async #next(): Promise<Waiting> {
    await until(() => this.#waiting.length > 0, 'a request');
    return this.#waiting.shift()!; // there is one: until() said so
  }

  /** Answers the next request with a list. */
  async list(items: readonly KubeObject[], resourceVersion: string): Promise<void> {
    (await this.#next()).answer(Response.json({ kind: 'List', metadata: { resourceVersion }, items }));
  }

  /** Answers the next request with a Status of this reason. */
  async refuse(reason: string, code: number, message = reason, details?: object): Promise<void> {
    (await this.#next()).answer(Response.json({ kind: 'Status', status: 'Failure', reason, code, message, details }, { status: code }));
  }

  /** Answers the next request with any JSON; returns what was sent. */
  async answer(body: object | ((sent: unknown) => object)): Promise<unknown> {
    const { request, answer } = await this.#next();
    const text = await request.text();
    const sent: unknown = text === '' ? undefined : JSON.parse(text);
    answer(Response.json(typeof body === 'function' ? body(sent) : body));
    return sent;
  }

  /** Breaks the next request as a lost connection does. */
  async breakConnection(): Promise<void> {
    (await this.#next()).fail(new TypeError('fetch failed'));
  }

  /** Answers the next request with a stream that the test feeds. */
  async watch(): Promise<ScriptedWatch> {
    const { answer } = await this.#next();
    let stream: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        stream = controller;
      },
    });
    answer(new Response(body));
    return {
      send: (type, object) => stream?.enqueue(new TextEncoder().encode(`${JSON.stringify({ type, object })}\n`)),
      end: () => stream?.close(),
      fail: (error) => stream?.error(error),
    };
  }
}
