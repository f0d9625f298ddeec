/** What a command works with in a test: nothing of this process, and a server whose answers are written down. */
import { PassThrough } from 'node:stream';
import { createClient } from '../client/client.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import type { ClusterDeps } from './deps.ts';

/** What the server answers to `GET /path`: an object, a Response, or either of them from what was sent. Anything else is not found. */
export type Answers = Readonly<Record<string, Answer>>;
type Answer = object | ((sent: unknown) => object);

export type TestDeps = {
  readonly deps: ClusterDeps;
  /** What was written so far. */
  stdout(): string;
  stderr(): string;
  /** The requests, with what they carried. */
  readonly requests: readonly (readonly [request: string, sent: unknown])[];
  /** As if the user or the system sent it. */
  signal(signal: NodeJS.Signals): void;
};

/** Dependencies for one call of a command. */
export function testDeps(answers: Answers = {}, overrides: Partial<ClusterDeps> = {}): TestDeps {
  const requests: (readonly [string, unknown])[] = [];
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const said = { stdout: '', stderr: '' };
  stdout.on('data', (chunk) => (said.stdout += chunk));
  stderr.on('data', (chunk) => (said.stderr += chunk));
  const listeners = new Map<NodeJS.Signals, Set<(signal: NodeJS.Signals) => void>>();
  const client = createClient({
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      const text = await request.text();
      const key = `${request.method} ${pathname}${search}`;
      const sent: unknown = text === '' ? undefined : JSON.parse(text);
      requests.push([key, sent]);
      const answer = answers[key] ?? status('NotFound', `${key} not found`);
      const body = typeof answer === 'function' && !(answer instanceof Response) ? answer(sent) : answer;
      return body instanceof Response ? body.clone() : Response.json(body);
    },
    baseUrl: 'https://server.example',
    userAgent: 'test',
  });
  const unexpected = (what: string) => () => Promise.reject(new Error(`nothing opens ${what} here`));
  const connection = {
    client,
    cluster: { context: 'test', server: 'https://server.example' },
    server: 'https://server.example',
    namespace: 'default',
    openStream: unexpected('a stream'),
    openConsole: unexpected('a console'),
    openPodShell: unexpected('a shell'),
  };
  const deps: ClusterDeps = {
    ...connection,
    stdin: new PassThrough(),
    stdout,
    stderr,
    env: {},
    workingFolder: '/work',
    clock: new FakeClock(),
    signal: new AbortController().signal,
    home: '/nowhere',
    cache: '/nowhere',
    program: '/nowhere/virtctl',
    embeddedProgram: '/nowhere/embedded',
    examples: '/nowhere',
    manifests: '/nowhere',
    page: '/nowhere/page',
    docs: '/nowhere/docs',
    version: 'v0',
    connect: async () => ({ ...connection, ...overrides }),
    onSignal: (signal, act) => {
      const all = listeners.get(signal) ?? new Set();
      listeners.set(signal, all.add(act));
      return () => all.delete(act);
    },
    exit: (code) => {
      throw new Error(`exit ${code}`);
    },
    ...overrides,
  };
  return {
    deps,
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    requests,
    signal: (signal) => {
      for (const act of listeners.get(signal) ?? []) act(signal);
    },
  };
}

const CODES: Readonly<Record<string, number>> = { NotFound: 404, Conflict: 409, Forbidden: 403, Invalid: 422, TooManyRequests: 429 };

/** A refusal of the server. */
export function status(reason: string, message: string): Response {
  const code = CODES[reason] ?? 500;
  return Response.json({ kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, message, code }, { status: code });
}
