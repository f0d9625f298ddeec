/** A real kube-apiserver with etcd on loopback, without nodes: what our own API server is compared with. */
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { ensurePki, type Pki } from '../../src/base/node/pki.ts';
import { createClient } from '../../src/client/client.ts';
import { type Cluster, writeKubeconfig } from '../../src/client/node/kubeconfig.ts';
import { createTlsFetch } from '../../src/client/node/tls-fetch.ts';
import { ensureKubernetes } from './build.ts';

const START_PATIENCE_MS = 120_000;

/** Throw-away: durable only when asked, gone with its folder when disposed. */
export class RealApiServer implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'kubevirt-ts-real-'));
  readonly kubeconfig = join(this.folder, 'kubeconfig');
  readonly #children: ChildProcess[] = [];
  #cluster: Cluster | undefined;

  /** Resolves when /readyz says so. */
  static async start(options: { readonly isDurable?: boolean } = {}): Promise<RealApiServer> {
    const server = new RealApiServer();
    try {
      await server.#start(options.isDurable ?? false);
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  get cluster(): Cluster {
    if (!this.#cluster) throw new Error('the server has not started');
    return this.#cluster;
  }

  /** Resident memory of API server and etcd. */
  residentMiB(): number {
    const sizes = this.#children.map(({ pid }) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0));
    return Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1024);
  }

  async #start(isDurable: boolean): Promise<void> {
    const programs = ensureKubernetes();
    const pki = await ensurePki(join(this.folder, 'pki'), systemClock);
    const [clientPort = 0, peerPort = 0, apiPort = 0] = await freePorts(3);
    const etcd = `http://127.0.0.1:${clientPort}`;
    this.#run(join(programs, 'etcd'), etcdFlags({ folder: this.folder, etcd, peer: `http://127.0.0.1:${peerPort}`, isDurable }));
    this.#run(join(programs, 'kube-apiserver'), apiServerFlags({ folder: this.folder, etcd, port: apiPort, pki }));
    this.#cluster = { context: 'real', server: `https://127.0.0.1:${apiPort}`, ca: pki.ca, ...pki.admin };
    await writeKubeconfig(this.kubeconfig, { name: 'real', server: this.#cluster.server, ca: pki.ca, ...pki.admin });
    await this.#untilReady();
  }

  #run(program: string, args: readonly string[]): void {
    const log = openSync(join(this.folder, 'log'), 'a');
    this.#children.push(spawn(program, args, { stdio: ['ignore', log, log], cwd: this.folder }));
    closeSync(log);
  }

  async #untilReady(): Promise<void> {
    const client = createClient({ fetch: createTlsFetch(this.cluster), baseUrl: this.cluster.server, userAgent: 'test' });
    const deadline = systemClock.now() + START_PATIENCE_MS;
    for (;;) {
      if (
        await client.request('/readyz').then(
          (response) => response.ok,
          () => false,
        )
      )
        return;
      const dead = this.#children.find((child) => child.exitCode !== null);
      if (dead || systemClock.now() > deadline) {
        const log = readFileSync(join(this.folder, 'log'), 'utf8').split('\n').slice(-20).join('\n');
        throw new Error(`the real API server does not become ready${dead ? `: ${dead.spawnfile} ended` : ''}\n${log}`);
      }
      await systemClock.sleep(100);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await new Promise((resolve) => child.once('exit', resolve));
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function etcdFlags({ folder, etcd, peer, isDurable }: { folder: string; etcd: string; peer: string; isDurable: boolean }): string[] {
  return [
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${etcd}`,
    `--advertise-client-urls=${etcd}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    ...(isDurable ? [] : ['--unsafe-no-fsync']),
  ];
}

function apiServerFlags({ folder, etcd, port, pki }: { folder: string; etcd: string; port: number; pki: Pki }): string[] {
  const file = (name: string, content: string) => {
    const path = join(folder, 'flags', name);
    mkdirSync(join(folder, 'flags'), { recursive: true, mode: 0o700 });
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  };
  const accounts = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return [
    `--etcd-servers=${etcd}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    '--endpoint-reconciler-type=none', // a loopback address may not be published
    '--service-cluster-ip-range=10.96.0.0/16',
    '--authorization-mode=Node,RBAC',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${file('sa.pub', accounts.publicKey)}`,
    `--service-account-signing-key-file=${file('sa.key', accounts.privateKey)}`,
    `--tls-cert-file=${file('apiserver.crt', pki.apiServer.cert)}`,
    `--tls-private-key-file=${file('apiserver.key', pki.apiServer.key)}`,
    `--client-ca-file=${file('ca.crt', pki.ca)}`,
    `--requestheader-client-ca-file=${file('front-proxy-ca.crt', pki.frontProxyCa)}`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${file('front-proxy.crt', pki.frontProxyClient.cert)}`,
    `--proxy-client-key-file=${file('front-proxy.key', pki.frontProxyClient.key)}`,
    '--disable-admission-plugins=ServiceAccount', // nobody makes service accounts without the controller manager
    '--enable-aggregator-routing=true',
  ];
}

/** Ports of the loopback that nobody listens on. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  const ports = await Promise.all(
    servers.map(
      (server) => new Promise<number>((resolve) => server.once('listening', () => resolve((server.address() as { port: number }).port))),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
