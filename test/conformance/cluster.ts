/** An API server over TLS in this process, and both kubectls to talk to it: what clients see, without nodes and guests. */
import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Pki } from '../../src/base/node/pki.ts';
import { createClient } from '../../src/client/client.ts';
import { loadKubeconfig, writeKubeconfig } from '../../src/client/node/kubeconfig.ts';
import { createTlsFetch } from '../../src/client/node/tls-fetch.ts';
import { openStore, type Store } from '../../src/control-plane/store/store.ts';
import { type FakeKubelet, startFakeKubelet } from '../../src/control-plane/workloads/fake-kubelet.testing.ts';
import { ensureKubectls } from '../../tools/kubectl/fetch.ts';
import { type Around, type ServeOptions, serve } from './serve.ts';

export type Result = { readonly code: number; readonly stdout: string; readonly stderr: string };
type RunOptions = {
  readonly input?: string;
  readonly env?: Record<string, string>;
  readonly isDebian?: boolean;
  readonly timeoutMs?: number;
};

/** `around` stands between TLS and the server; `onUpgrade` is told of connections that want to leave HTTP. */
type ClusterOptions = { readonly isDebian?: boolean } & Pick<ServeOptions, 'around' | 'onUpgrade'>;

const HISTORY = 2_000;

export class Cluster implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'conformance-'));
  readonly #kubectls = ensureKubectls();
  #port = 0;
  #store: Store | undefined;
  /** The address of every request, in the order in which they came. */
  readonly requests: string[] = [];
  #pki: Pki | undefined;
  #stop: () => Promise<void> = async () => {};
  /** Which kubectl speaks when a test does not say. */
  readonly isDebian: boolean;

  readonly #around: Around;
  readonly #onUpgrade: ServeOptions['onUpgrade'];

  private constructor({ isDebian = false, around = (request, answer) => answer(request), onUpgrade }: ClusterOptions) {
    this.isDebian = isDebian;
    this.#around = around;
    this.#onUpgrade = onUpgrade;
  }

  static async start(options: ClusterOptions = {}): Promise<Cluster> {
    const cluster = new Cluster(options);
    await cluster.#serve();
    return cluster;
  }

  get pki(): Pki {
    return this.#pki!; // start has served
  }

  /** A kubeconfig of somebody with a token and no certificate. */
  kubeconfigWith({ token }: { token: string }): string {
    const { server } = loadKubeconfig(this.kubeconfig);
    const ca = Buffer.from(this.pki.ca).toString('base64');
    return this.file(`kubeconfig-${this.requests.length}`, {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'token',
      contexts: [{ name: 'token', context: { cluster: 'here', user: 'token' } }],
      clusters: [{ name: 'here', cluster: { server, 'certificate-authority-data': ca } }],
      users: [{ name: 'token', user: { token } }],
    });
  }

  /** One request of the administrator, without kubectl. */
  request(path: string, headers: Record<string, string> = {}): Promise<Response> {
    const door = loadKubeconfig(this.kubeconfig);
    return createTlsFetch(door)(new Request(new URL(path, door.server), { headers }));
  }

  /** A node that takes all Pods of one namespace and runs nothing for real. */
  async node(namespace: string): Promise<FakeKubelet & AsyncDisposable> {
    const door = loadKubeconfig(this.kubeconfig);
    const client = createClient({ fetch: createTlsFetch(door), baseUrl: door.server, userAgent: 'node' });
    const stop = new AbortController();
    const nodes = [`node-of-${namespace}`];
    const kubelet = await startFakeKubelet({ client, nodes, namespace, now: Date.now, signal: stop.signal });
    return {
      ...kubelet,
      async [Symbol.asyncDispose]() {
        stop.abort();
        await kubelet.stopped;
      },
    };
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
  kubectl(args: readonly string[], { input, env = {}, isDebian = this.isDebian, timeoutMs = 60_000 }: RunOptions = {}): Promise<Result> {
    const program = isDebian ? this.#kubectls.debian : (process.env['KUBECTL'] ?? this.#kubectls.current);
    const cache = ['--cache-dir', join(this.folder, isDebian ? 'cache-debian' : 'cache')];
    const variables = { PATH: process.env['PATH'], HOME: this.folder, TMPDIR: this.folder, KUBECONFIG: this.kubeconfig, ...env };
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
    const program = this.isDebian ? this.#kubectls.debian : (process.env['KUBECTL'] ?? this.#kubectls.current);
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

  /** What a current kubectl printed, for what the old one cannot say. */
  mustAsCurrent(args: readonly string[]): Promise<string> {
    return this.must(args, { isDebian: false });
  }

  /** What kubectl said about a request that has to fail. */
  async refused(args: readonly string[], options: RunOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await this.kubectl(args, options);
    if (code === 0) throw new Error(`kubectl ${args.join(' ')} went well\n${stdout}${stderr}`);
    return stderr;
  }

  /** A program for kubectl to call. */
  script(name: string, text: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    return path;
  }

  /** A manifest file with these objects; an empty file when there are none. */
  file(name: string, ...objects: readonly object[]): string {
    const path = join(this.folder, name);
    const whole = objects.length > 1 ? { apiVersion: 'v1', kind: 'List', items: objects } : objects[0];
    writeFileSync(path, whole ? JSON.stringify(whole) : '');
    return path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #serve(): Promise<void> {
    const store = openStore({ path: join(this.folder, 'store.db'), historySize: HISTORY });
    const around: Around = (request, answer) => {
      this.requests.push(request.url);
      return this.#around(request, answer);
    };
    const served = await serve({ store, folder: this.folder, port: this.#port, around, onUpgrade: this.#onUpgrade });
    const { ca, admin } = served.pki;
    await writeKubeconfig(this.kubeconfig, { server: `https://127.0.0.1:${served.port}`, ca, ...admin, name: 'test' });
    this.#store = store;
    this.#port = served.port;
    this.#pki = served.pki;
    this.#stop = async () => {
      await served.stop();
      store.close();
    };
  }
}
