/** A real Kubernetes in place of an embedded cluster: it is there before the test and stays, what the test makes on it goes. */
import { copyFileSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { RealCluster } from '../../tools/kubernetes/cluster.ts';
import { BUSYBOX_IMAGE } from '../../tools/kubernetes/image-store.ts';
import { EmbeddedCluster } from './harness.ts';

const TIMEOUT = ['--timeout=400s'];

export class RealTestCluster extends EmbeddedCluster {
  override readonly namespace: string;
  readonly #made: string[] = [];
  readonly #volumes: string;

  private constructor({ kubeconfig, folder }: RealCluster, namespace: string) {
    super();
    this.namespace = namespace;
    this.#volumes = join(folder, 'volumes');
    copyFileSync(kubeconfig, join(this.home, 'kubeconfig'));
  }

  /** Every test has a namespace to itself: others use the cluster at the same time. */
  static async attach(name: string): Promise<RealTestCluster> {
    const cluster = new RealTestCluster(RealCluster.open(name), `e2e-${process.pid}`);
    await cluster.createNamespace(cluster.namespace);
    await cluster.must('kubectl', ['config', 'set-context', '--current', `--namespace=${cluster.namespace}`]);
    return cluster;
  }

  override async createNamespace(name: string): Promise<void> {
    await super.createNamespace(name);
    this.#made.push(name);
  }

  /** All nodes see one folder of this machine. */
  override async folderOf(claim: string): Promise<string> {
    return join(this.#volumes, basename(await super.folderOf(claim)));
  }

  override async plainImage(): Promise<{ readonly image: string }> {
    return { image: BUSYBOX_IMAGE };
  }

  /** By the launcher Pod itself. */
  override pingsOutside(): boolean {
    return true;
  }

  override hasNetwork(): boolean {
    return true;
  }

  /** QEMU of the guests in the test's own namespace, as this machine sees it. */
  override guestPids(): number[] {
    return readdirSync('/proc')
      .filter((pid) => /^\d+$/.test(pid) && textOf(pid, 'comm').startsWith('qemu-system'))
      .filter((pid) => textOf(pid, 'cmdline').includes(`\0guest=${this.namespace}_`))
      .map(Number)
      .sort();
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.must('kubectl', ['delete', 'namespace', ...this.#made, ...TIMEOUT], { timeoutMs: 420_000 });
    rmSync(dirname(this.home), { recursive: true, force: true });
  }
}

function textOf(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return ''; // ended meanwhile
  }
}
