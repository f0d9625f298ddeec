/** An API server over TLS in this process, and both kubectls to talk to it: what clients see, without nodes and guests. */
import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { ensurePki } from '../../src/base/node/pki.ts';
import { createClient } from '../../src/client/client.ts';
import { writeKubeconfig } from '../../src/client/node/kubeconfig.ts';
import { createApiServer } from '../../src/control-plane/apiserver/create-api-server.ts';
import { listen } from '../../src/control-plane/apiserver/transport/listen.ts';
import { startGarbageCollector } from '../../src/control-plane/garbage-collector/controller.ts';
import { openStore, type Store } from '../../src/control-plane/store/store.ts';
import { ensureKubectls } from '../../tools/kubectl/fetch.ts';

export type Result = { readonly code: number; readonly stdout: string; readonly stderr: string };
type RunOptions = {
  readonly input?: string;
  readonly env?: Record<string, string>;
  readonly isDebian?: boolean;
  readonly timeoutMs?: number;
};

const HISTORY = 2_000;

export class Cluster implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'conformance-'));
  readonly #kubectls = ensureKubectls();
  #port = 0;
  #store: Store | undefined;
  #stop: () => Promise<void> = async () => {};

  static async start(): Promise<Cluster> {
    const cluster = new Cluster();
    await cluster.#serve();
    return cluster;
  }

  /** Ends the server and starts another on the same data and port; the data may change while nobody is connected. */
  async restart(whileAway?: (store: Store) => Promise<void>): Promise<void> {
    await this.#stop();
    if (whileAway) {
      const store = openStore({ path: join(this.folder, 'store.db'), historySize: HISTORY });
      await whileAway(store);
      store.close();
    }
    await this.#serve();
  }

  /** For clients other than kubectl. */
  get kubeconfig(): string {
    return join(this.folder, 'kubeconfig');
  }

  /** Runs kubectl to its end; never throws for its exit code. */
  kubectl(args: readonly string[], { input, env = {}, isDebian = false, timeoutMs = 60_000 }: RunOptions = {}): Promise<Result> {
    const program = isDebian ? this.#kubectls.debian : (process.env['KUBECTL'] ?? this.#kubectls.current);
    const cache = ['--cache-dir', join(this.folder, isDebian ? 'cache-debian' : 'cache')];
    const variables = { PATH: process.env['PATH'], HOME: this.folder, KUBECONFIG: this.kubeconfig, ...env };
    return new Promise((done) => {
      const options = { env: variables, timeout: timeoutMs, maxBuffer: 64 * 1024 * 1024 };
      const child = execFile(program, [...cache, ...args], options, (error, stdout, stderr) => {
        done({ code: typeof error?.code === 'number' ? error.code : error ? 1 : 0, stdout, stderr });
      });
      child.stdin?.on('error', () => {}); // the program need not read what we say
      child.stdin?.end(input ?? '');
    });
  }

  /** A kubectl that runs until the test ends it. */
  spawnKubectl(args: readonly string[]): ChildProcessByStdio<null, Readable, null> {
    const program = process.env['KUBECTL'] ?? this.#kubectls.current;
    const env = { PATH: process.env['PATH'], HOME: this.folder, KUBECONFIG: this.kubeconfig };
    return spawn(program, ['--cache-dir', join(this.folder, 'cache'), ...args], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  }

  /** Writes until everything that happened before is forgotten. */
  async makeHistory(store: Store | undefined = this.#store): Promise<void> {
    const key = 'core/configmaps/default/noise';
    for (let i = 0; i <= HISTORY; i += 100) {
      await Promise.all(Array.from({ length: 100 }, (_, n) => store?.write({ key, value: { metadata: { name: 'noise' }, n: i + n } })));
    }
    await store?.write({ key, value: undefined });
  }

  /** What kubectl printed; any exit code but 0 fails the test with everything it said. */
  async must(args: readonly string[], options: RunOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await this.kubectl(args, options);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')} left with ${code}\n${stdout}${stderr}`);
    return stdout;
  }

  /** What kubectl said about a request that has to fail. */
  async refused(args: readonly string[], options: RunOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await this.kubectl(args, options);
    if (code === 0) throw new Error(`kubectl ${args.join(' ')} went well\n${stdout}${stderr}`);
    return stderr;
  }

  /** A manifest file; JSON is YAML. */
  file(name: string, ...objects: readonly object[]): string {
    const path = join(this.folder, name);
    writeFileSync(path, objects.map((object) => JSON.stringify(object)).join('\n---\n'));
    return path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #serve(): Promise<void> {
    const store = openStore({ path: join(this.folder, 'store.db'), historySize: HISTORY });
    this.#store = store;
    const pki = await ensurePki(join(this.folder, 'pki'), systemClock);
    const server = await createApiServer({ store, clock: systemClock, log: silentLogger });
    const refuse = () => Promise.reject(new Error('nothing here leaves HTTP'));
    const web = await listen({ handle: server.handle, upgrade: refuse, pki, port: this.#port, log: silentLogger });
    this.#port = web.port;
    const { cert, key } = pki.admin;
    await writeKubeconfig(this.kubeconfig, {
      server: `https://127.0.0.1:${web.port}`,
      ca: pki.ca,
      cert,
      key,
      name: 'test',
    });
    const ending = new AbortController();
    const identity = { user: 'system:garbage-collector', groups: ['system:masters', 'system:authenticated'] };
    const client = createClient({
      fetch: (request) => server.handle(request, identity),
      baseUrl: 'https://kubernetes.default.svc',
      userAgent: 'gc',
    });
    const collecting = startGarbageCollector({ client, clock: systemClock, log: silentLogger, signal: ending.signal });
    this.#stop = async () => {
      ending.abort();
      await collecting;
      server.close();
      await web.close();
      store.close();
    };
  }
}
