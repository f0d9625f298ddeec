/** What scenarios on one shared cluster have in hand. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { TestContext } from 'node:test';
import { PODS, type Pod } from '../../../src/api/core/pod.ts';
import { type VirtualMachine, VMS } from '../../../src/api/kubevirt/kinds/virtual-machine.ts';
import { type VirtualMachineInstance, VMIS } from '../../../src/api/kubevirt/kinds/virtual-machine-instance.ts';
import type { RealCluster } from '../../../tools/kubernetes/cluster.ts';
import type { SessionCluster } from '../../conformance/seeds/replay.ts';
import type { Result } from '../../e2e/harness.ts';
import { apply, kubectl } from '../kubectl.ts';
import { GUEST_IMAGE, runInGuest, virtctl } from '../product-cluster.ts';

const PATIENCE_MS = 400_000;
const VIRTCTL = resolve(import.meta.dirname, '../../../bin/virtctl');

/** A namespace of a cluster that is there when the first test runs, not before. */
export class World {
  readonly #cluster: () => RealCluster;
  readonly namespace: string;

  constructor(cluster: () => RealCluster, namespace = 'default') {
    this.#cluster = cluster;
    this.namespace = namespace;
  }

  get cluster(): RealCluster {
    return this.#cluster();
  }

  in(namespace: string): World {
    return new World(this.#cluster, namespace);
  }

  kubectl(...args: string[]): Promise<string> {
    return kubectl(this.cluster, '-n', this.namespace, ...args);
  }

  /** What ours says; never throws for its exit code. */
  virtctl(...args: string[]): Promise<Result> {
    return virtctl(this.cluster.kubeconfig, ...args, '-n', this.namespace);
  }

  /** The tools under the names that people know them by, for as long as the test lasts. */
  session(t: TestContext, program = VIRTCTL): SessionCluster {
    const tools = mkdtempSync(join(tmpdir(), 'session-tools-'));
    t.after(() => rmSync(tools, { recursive: true }));
    symlinkSync(program, join(tools, 'virtctl'));
    symlinkSync(join(this.cluster.programs, 'kubectl'), join(tools, 'kubectl'));
    return { kubeconfig: this.cluster.kubeconfig, path: `${tools}:${process.env['PATH']}` };
  }

  /** Resolves when Pods can be created in it. */
  async makeNamespace(labels: Readonly<Record<string, string>> = {}): Promise<void> {
    await apply(this.cluster, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: this.namespace, labels } });
    await this.kubectl('wait', 'serviceaccount/default', '--for=create', '--timeout=400s');
  }

  apply(...objects: object[]): Promise<void> {
    return apply(this.cluster, ...objects);
  }

  until(what: string, path: string, value: string): Promise<string> {
    return this.kubectl('wait', what, `--for=jsonpath={${path}}=${value}`, '--timeout=400s');
  }

  /** Until the machine runs and says that it is ready. */
  async untilReady(...names: string[]): Promise<void> {
    for (const name of names) await this.until(`vm/${name}`, '.status.ready', 'true');
  }

  async vm(name: string): Promise<VirtualMachine> {
    const found = await this.cluster.client.get(VMS, { namespace: this.namespace, name });
    assert.ok(found, `there is no VirtualMachine ${name}`);
    return found;
  }

  async vmi(name: string): Promise<VirtualMachineInstance> {
    const found = await this.cluster.client.get(VMIS, { namespace: this.namespace, name });
    assert.ok(found, `there is no VirtualMachineInstance ${name}`);
    return found;
  }

  async pods(labelSelector: string): Promise<readonly Pod[]> {
    return (await this.cluster.client.list(PODS, { namespace: this.namespace, labelSelector })).items;
  }

  /** The one Pod of a machine. */
  async launcherOf(name: string): Promise<Pod> {
    const found = await this.pods(`vm.kubevirt.io/name=${name}`);
    assert.equal(found.length, 1, `Pods of ${name}`);
    return found[0]!; // there is one: see above
  }

  /** What a command prints in a guest. */
  inGuest(name: string, command: string): Promise<string> {
    return runInGuest(this.cluster, { namespace: this.namespace, name }, command);
  }

  /** Tells one boot of a guest from the next. */
  bootIdOf(name: string): Promise<string> {
    return this.inGuest(name, 'cat /proc/sys/kernel/random/boot_id');
  }

  /** A machine with the demo guest. */
  machine(name: string, { spec = {}, domain = {} }: { readonly spec?: object; readonly domain?: object } = {}): object {
    const template = {
      metadata: { labels: { machine: name } },
      spec: {
        terminationGracePeriodSeconds: 30,
        domain: {
          memory: { guest: '128Mi' },
          devices: {
            disks: [{ name: 'root', disk: { bus: 'virtio' } }],
            interfaces: [{ name: 'default', masquerade: {}, ports: [{ port: 80 }] }],
          },
          ...domain,
        },
        networks: [{ name: 'default', pod: {} }],
        volumes: [{ name: 'root', containerDisk: { image: GUEST_IMAGE } }],
        ...spec,
      },
    };
    return {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachine',
      metadata: { name, namespace: this.namespace },
      spec: { runStrategy: 'Always', template },
    };
  }
}

/** Things that follow from what was done, but not at once. */
export async function eventually<T>(ask: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
