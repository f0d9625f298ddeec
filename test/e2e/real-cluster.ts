/** A real Kubernetes in place of an embedded cluster: it is there before the test and stays, what the test makes on it goes. */
import { copyFileSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { RealCluster } from '../../tools/kubernetes/cluster.ts';
import { EmbeddedCluster } from './harness.ts';

const MACHINES = 'ovm,vmic,vmirs,vm,vmi';
const TIMEOUT = ['--timeout=400s'];
/** What a namespace has without anybody's doing. */
const ALWAYS_THERE = ['service/kubernetes', 'serviceaccount/default', 'configmap/kube-root-ca.crt'];

export class RealTestCluster extends EmbeddedCluster {
  readonly #cgroup: string;
  #namespaces: readonly string[] = [];

  private constructor({ kubeconfig, plan }: RealCluster) {
    super();
    this.#cgroup = plan.cgroup;
    copyFileSync(kubeconfig, join(this.home, 'kubeconfig'));
  }

  /** Tests have its namespace `default` to themselves. */
  static async attach(name: string): Promise<RealTestCluster> {
    const cluster = new RealTestCluster(RealCluster.open(name));
    cluster.#namespaces = await cluster.#names('namespaces');
    return cluster;
  }

  /** QEMU of all guests of the cluster, as this machine sees it. */
  override guestPids(): number[] {
    return readdirSync('/proc')
      .filter((pid) => /^\d+$/.test(pid))
      .filter((pid) => textOf(pid, 'comm').startsWith('qemu-system') && textOf(pid, 'cgroup').includes(`/${this.#cgroup}/`))
      .map(Number)
      .sort();
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.must('kubectl', ['delete', MACHINES, '--all', ...TIMEOUT], { timeoutMs: 420_000 });
    const made = await this.#names('services,secrets,serviceaccounts,configmaps,rolebindings,persistentvolumeclaims,pods');
    const left = [...made, ...(await this.#names('namespaces')).filter((name) => !this.#namespaces.includes(name))];
    if (left.length > 0) await this.must('kubectl', ['delete', ...left, '--ignore-not-found', ...TIMEOUT], { timeoutMs: 420_000 });
    rmSync(this.home, { recursive: true, force: true });
  }

  async #names(kinds: string): Promise<string[]> {
    const names = (await this.must('kubectl', ['get', kinds, '-o', 'name'])).split('\n').filter(Boolean);
    return names.map((name) => name.replace(/^([^./]+)\.[^/]+/, '$1')).filter((name) => !ALWAYS_THERE.includes(name));
  }
}

function textOf(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return ''; // ended meanwhile
  }
}
