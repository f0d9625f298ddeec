/** A real Kubernetes with nodes on this machine, to test on: everything of it is in one folder, and gone when it is disposed. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NODES, type Node } from '../../src/api/core/node.ts';
import { systemClock } from '../../src/base/clock.ts';
import { messageOf, UserError } from '../../src/base/errors.ts';
import type { KeyPair } from '../../src/base/node/pki-files.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import { type Cluster, loadKubeconfig, writeKubeconfig } from '../../src/client/node/kubeconfig.ts';
import { createTlsFetch } from '../../src/client/node/tls-fetch.ts';
import { hasLostItsOwner, setOwner } from '../owned-folder.ts';
import { startAddons } from './addons/start.ts';
import { ensureKubernetes } from './build.ts';
import { clusterFolder, clusterFolders } from './cluster-folders.ts';
import { takeDown } from './down.ts';
import { AUDIT_LOG, AUDIT_POLICY, type ControlPlaneProgram, controlPlaneFlags } from './flags.ts';
import { bringUpBridge, numbersOf, takeNumber } from './host.ts';
import { requireHost } from './host-requirements.ts';
import { ensureImageStore } from './image-store.ts';
import * as nodes from './node.ts';
import { ensurePackages } from './packages.ts';
import { writePki } from './pki.ts';
import { MAX_NODES, type NodePlan, type Plan, planCluster } from './plan.ts';
import { findPart, killProcesses, startPart } from './processes.ts';
import { registryPart } from './registry.ts';
import { until } from './until.ts';

export type ClusterOptions = {
  /** Two clusters need two names. */
  readonly name?: string;
  readonly nodes?: number;
  /** Image archives that every node has from the start, beside a busybox. */
  readonly images?: readonly string[];
  /** Neither names of Services nor a storage class. */
  readonly isBare?: boolean;
  /** The API server keeps a log of who wrote what: `auditLog`. */
  readonly isAudited?: boolean;
  /** Outlives us; otherwise the next start of any cluster takes it down when we have ended without doing so. */
  readonly isKept?: boolean;
  /** Gives up, and leaves nothing. */
  readonly signal?: AbortSignal;
};

export class RealCluster implements AsyncDisposable {
  readonly folder: string;
  readonly kubeconfig: string;
  readonly plan: Plan;
  readonly client: Client;
  readonly #programs: string;
  readonly #packages: string;

  private constructor(name: string, plan: Plan) {
    this.folder = clusterFolder(name);
    this.kubeconfig = join(this.folder, 'kubeconfig');
    this.plan = plan;
    this.#programs = ensureKubernetes();
    this.#packages = ensurePackages();
    this.client = createClient({ fetch: createTlsFetch(this.cluster), baseUrl: plan.server, userAgent: 'kubernetes-test' });
  }

  /** Resolves when every node is Ready and Pods can be created in namespace default. What had this name before is taken down. */
  static async start({
    name = 'default',
    nodes = 1,
    images = [],
    isBare = false,
    isAudited = false,
    isKept = false,
    signal,
  }: ClusterOptions = {}): Promise<RealCluster> {
    checkOptions(name, nodes, images);
    requireHost();
    ensureKubernetes();
    const packages = ensurePackages();
    const imageStore = ensureImageStore({ packages, archives: images });
    const folder = clusterFolder(name);
    for (const each of clusterFolders().filter(hasLostItsOwner)) await takeDown(each);
    await takeDown(folder);
    try {
      mkdirSync(join(folder, 'volumes'), { recursive: true, mode: 0o700 });
      mkdirSync(join(folder, 'log'));
      if (!isKept) setOwner(folder);
      if (isAudited) writeFileSync(join(folder, AUDIT_POLICY), JSON.stringify(WRITES_ONLY));
      const plan = takeNumber(folder, nodes);
      bringUpBridge(plan);
      const pki = await writePki(join(folder, 'pki'), plan, systemClock.now());
      await writeKubeconfigs(folder, plan, pki);
      const cluster = new RealCluster(name, plan);
      await cluster.#bringUp(pki, imageStore, signal);
      if (!isBare) await startAddons(cluster, signal);
      signal?.throwIfAborted();
      return cluster;
    } catch (error) {
      const log = logTails(folder);
      await takeDown(folder);
      throw error instanceof UserError ? error : new Error(`the cluster does not start: ${messageOf(error)}\n${log}`, { cause: error });
    }
  }

  /** One that runs already. */
  static open(name = 'default'): RealCluster {
    const folder = clusterFolder(name);
    const [number] = numbersOf(folder);
    if (number === undefined || !existsSync(join(folder, 'kubeconfig'))) {
      throw new UserError('CLUSTER_MISSING', `no real Kubernetes named ${name} runs here`, {
        fix: `tools/kubernetes/up --name ${name}`,
        exitCode: 3,
      });
    }
    let count = 0;
    while (existsSync(join(folder, `node${count + 1}`))) count++;
    return new RealCluster(name, planCluster(number, count));
  }

  get cluster(): Cluster {
    return loadKubeconfig(this.kubeconfig);
  }

  /** `10.250.0.1:5000`: nodes ask it for every image of every registry; the machine pushes to it over plain HTTP. */
  get registry(): string {
    return this.plan.registry;
  }

  /** One line of JSON for each write, of a cluster that was started with `isAudited`. */
  get auditLog(): string {
    return join(this.folder, AUDIT_LOG);
  }

  /** The folder of kubectl and the other programs. */
  get programs(): string {
    return this.#programs;
  }

  /** Output of a command run on the node itself. */
  exec(node: string, command: readonly string[]): Promise<string> {
    return nodes.execInNode(this.folder, this.#node(node), command);
  }

  /** The power of a node goes: no process of it is left. Its disk stays. */
  crashNode(node: string): Promise<void> {
    return nodes.crashNode(this.folder, this.plan, this.#node(node));
  }

  /** The power comes back (after going, when it was there); whether it is Ready again is up to the caller to await. */
  async rebootNode(node: string): Promise<void> {
    await this.crashNode(node);
    await nodes.startNode(this.#nodeInput(this.#node(node)));
  }

  /** Killed, and started again as by any init. */
  async restart(node: string, program: nodes.NodeProgram): Promise<void> {
    const plan = this.#node(node);
    await nodes.killProgram(this.folder, plan, program);
    await until(`${program} of ${node} runs again`, () => nodes.programOf(this.folder, plan, program) !== undefined);
  }

  /** Killed, and not started again before `release`. */
  hold(node: string, program: nodes.NodeProgram): Promise<void> {
    return nodes.holdProgram(this.folder, this.#node(node), program);
  }

  release(node: string, program: nodes.NodeProgram): void {
    nodes.letProgramRun(this.folder, this.#node(node), program);
  }

  /** Ends a program of the control plane. */
  async stop(program: ControlPlaneProgram): Promise<void> {
    await killProcesses(findPart(this.folder, program, program));
  }

  /** Starts it again; for the API server, resolves when it is ready. */
  async startAgain(program: ControlPlaneProgram): Promise<void> {
    this.#startControlPlane(program);
    if (program === 'kube-apiserver') await this.untilApiReady();
  }

  async untilApiReady(signal?: AbortSignal): Promise<void> {
    await until('the API server is ready', () => this.#answers('/readyz'), signal);
  }

  /** Waits until these nodes, all unless said, are Ready. */
  async untilReady(names: readonly string[] = this.plan.nodes.map(({ name }) => name), signal?: AbortSignal): Promise<void> {
    await until(`${names.join(', ')} Ready`, async () => (await this.#readyOf(names)).every((isReady) => isReady === true), signal);
  }

  async untilNotReady(name: string): Promise<void> {
    await until(`${name} is not Ready`, async () => (await this.#readyOf([name]))[0] === false);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await takeDown(this.folder);
  }

  async #bringUp(pki: Readonly<Record<string, KeyPair>>, imageStore: string, signal?: AbortSignal): Promise<void> {
    this.#startControlPlane('etcd');
    this.#startControlPlane('kube-apiserver');
    startPart(registryPart({ folder: this.folder, plan: this.plan, packages: this.#packages }));
    for (const node of this.plan.nodes) await nodes.prepareNode(this.#nodeInput(node), pki, imageStore);
    await this.untilApiReady(signal);
    this.#startControlPlane('kube-controller-manager');
    this.#startControlPlane('kube-scheduler');
    for (const node of this.plan.nodes) await nodes.startNode(this.#nodeInput(node));
    await this.untilReady(undefined, signal);
    await until('there is a default service account', () => this.#answers('/api/v1/namespaces/default/serviceaccounts/default'), signal);
  }

  #answers(path: string): Promise<boolean> {
    return this.client.request(path).then(
      () => true,
      () => false,
    );
  }

  /** Undefined for a node that is not there, and for all when the API server does not answer. */
  async #readyOf(names: readonly string[]): Promise<(boolean | undefined)[]> {
    const { items } = await this.client.list(NODES).catch(() => ({ items: [] as Node[] }));
    return names.map((name) => items.filter(({ metadata }) => metadata.name === name).map(isNodeReady)[0]);
  }

  #startControlPlane(program: ControlPlaneProgram): void {
    startPart({
      folder: this.folder,
      part: program,
      program: join(this.#programs, program),
      args: controlPlaneFlags({ plan: this.plan, folder: this.folder })[program],
      logFile: join(this.folder, 'log', `${program}.log`),
    });
  }

  #node(name: string): NodePlan {
    const found = this.plan.nodes.find((node) => node.name === name);
    if (!found) throw new Error(`there is no node ${name}; there are ${this.plan.nodes.map((node) => node.name).join(', ')}`);
    return found;
  }

  #nodeInput(node: NodePlan): nodes.NodeInput {
    return { folder: this.folder, plan: this.plan, node, programs: this.#programs, packages: this.#packages };
  }
}

/** Who wrote what, without the content. */
const WRITES_ONLY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'None', verbs: ['get', 'list', 'watch'] }, { level: 'Metadata' }],
};

function checkOptions(name: string, nodes: number, images: readonly string[]): void {
  if (!/^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/.test(name)) {
    throw new UserError('NAME_INVALID', `"${name}" cannot be the name of a cluster`, {
      fix: 'use small letters, digits and dashes, 32 at most',
      exitCode: 2,
    });
  }
  if (!Number.isInteger(nodes) || nodes < 1 || nodes > MAX_NODES) {
    throw new UserError('NODES_INVALID', `a cluster cannot have ${nodes} nodes`, { fix: `choose 1 to ${MAX_NODES}`, exitCode: 2 });
  }
  const missing = images.find((path) => !existsSync(path));
  if (missing)
    throw new UserError('IMAGE_MISSING', `there is no image archive ${missing}`, {
      fix: 'give the path of a docker or OCI archive',
      exitCode: 2,
    });
}

async function writeKubeconfigs(folder: string, plan: Plan, pki: Readonly<Record<string, KeyPair>>): Promise<void> {
  const write = (path: string, name: string) =>
    writeKubeconfig(path, { name: 'real', server: plan.server, ca: pki['ca']?.cert, ...pki[name] });
  await write(join(folder, 'kubeconfig'), 'admin');
  for (const name of ['kube-controller-manager', 'kube-scheduler']) await write(join(folder, 'pki', `${name}.kubeconfig`), name);
}

function isNodeReady(node: Node): boolean {
  return node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}

/** The last lines of every log: the folder is gone when somebody reads the message. */
function logTails(folder: string): string {
  const files = ['log/etcd.log', 'log/kube-apiserver.log', 'node1/log/node.log', 'node1/log/containerd.log', 'node1/log/kubelet.log'];
  return files
    .filter((file) => existsSync(join(folder, file)))
    .map((file) => `--- ${file}\n${readFileSync(join(folder, file), 'utf8').split('\n').slice(-8).join('\n')}`)
    .join('\n');
}
