/**
 * The same Deployment of tiny Pods on the embedded cluster and on a real Kubernetes of one node, one after the other: created to all
 * ready, updated, scaled to nothing; memory of the control plane with its Pods; and server-side applies. `--pods N` chooses how many.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DEPLOYMENTS, type Deployment } from '../../src/api/core/deployment.ts';
import { PODS } from '../../src/api/core/pod.ts';
import { systemClock } from '../../src/base/clock.ts';
import { messageOf } from '../../src/base/errors.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import { loadKubeconfig } from '../../src/client/node/kubeconfig.ts';
import { createTlsFetch } from '../../src/client/node/tls-fetch.ts';
import { addBusybox } from '../../src/control-plane/kubelet/containers/busybox.testing.ts';
import { RealCluster } from '../../tools/kubernetes/cluster.ts';
import { BUSYBOX_IMAGE } from '../../tools/kubernetes/image-store.ts';
import { findPart } from '../../tools/kubernetes/processes.ts';
import { EmbeddedCluster } from '../e2e/harness.ts';
import { nodesSkipReason } from '../kubernetes/nodes-skip-reason.ts';
import { cpuMsOf, occasion, ratio, residentMiBOf } from './figures.ts';

const PODS_WANTED = 50;
const APPLIED = 200;
const AT_ONCE = 8;
const PATIENCE_MS = 900_000;
/** A small part of what is measured, and little work for either. */
const LOOK_EVERY_MS = 50;
const NAMESPACE = 'default';
/** What one process is embedded. */
const PARTS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'node1/kubelet'];

type Figures = {
  readonly readyMs: number;
  readonly updateMs: number;
  readonly scaleToZeroMs: number;
  readonly emptyMiB: number;
  readonly fullMiB: number;
  readonly kibPerPod: number;
  readonly appliesPerSecond: number;
  /** Beside it: the etcd of the real one does not wait for the disk, and ours does. */
  readonly cpuMsPerApply: number;
};
type Measured = { readonly client: Client; readonly pods: number; readonly pids: readonly number[] };

export async function benchmark(args: readonly string[] = []): Promise<void> {
  const pods = Number(parseArgs({ args: [...args], options: { pods: { type: 'string' } } }).values.pods ?? PODS_WANTED);
  const ours = await measureOurs(pods);
  const real = await measureReal(pods).catch((error: unknown) => {
    console.error(`the real Kubernetes could not be measured: ${messageOf(error)}`); // our own figures are worth having without it
    return undefined;
  });
  const rows: readonly [string, keyof Figures, string][] = [
    [`${pods} Pods, created to all ready`, 'readyMs', ' ms'],
    ['rolling update of all', 'updateMs', ' ms'],
    ['scaled to 0', 'scaleToZeroMs', ' ms'],
    ['control plane, without Pods', 'emptyMiB', ' MiB'],
    ['control plane, with them', 'fullMiB', ' MiB'],
    ['control plane, for each Pod', 'kibPerPod', ' KiB'],
    ['server-side applies per second', 'appliesPerSecond', ''],
    ['CPU for each of them', 'cpuMsPerApply', ' ms'],
  ];
  for (const [name, key, unit] of rows) {
    const compared = real ? `   real ${String(real[key]).padStart(7)}${unit}   x ${ratio(ours[key], real[key])}` : '';
    console.log(`${name.padEnd(34)}${String(ours[key]).padStart(8)}${unit}${compared}`);
  }
  const ratios = real && Object.fromEntries(rows.map(([, key]) => [key, ratio(ours[key], real[key])]));
  console.log(JSON.stringify({ benchmark: 'workloads', ...occasion(), pods, ours, real, ratios }));
}

async function measureOurs(pods: number): Promise<Figures> {
  await using cluster = await EmbeddedCluster.start();
  await addBusybox(join(cluster.home, 'images'), { reference: BUSYBOX_IMAGE });
  const door = loadKubeconfig(join(cluster.home, 'kubeconfig'));
  const client = createClient({ fetch: createTlsFetch(door), baseUrl: door.server, userAgent: 'bench' });
  return await measure({ client, pods, pids: [cluster.pid()] }); // awaited here: the cluster goes when we leave
}

/** Undefined on a machine that has none. */
async function measureReal(pods: number): Promise<Figures | undefined> {
  if (nodesSkipReason()) return undefined;
  await using cluster = await RealCluster.start({ name: `bench-${process.pid}`, isBare: true });
  const pids = PARTS.flatMap((part) => findPart(cluster.folder, part, part.split('/').at(-1) ?? '').map(({ pid }) => pid));
  return await measure({ client: cluster.client, pods, pids }); // as above
}

async function measure({ client, pods, pids }: Measured): Promise<Figures> {
  const residentMiB = () => pids.reduce((sum, pid) => sum + residentMiBOf(pid), 0);
  const cpuMs = () => pids.reduce((sum, pid) => sum + cpuMsOf(pid), 0);
  await rolledOut(client, deployment('warm-up', 1), 1); // the image is unpacked, programs are in the page cache
  await scaledToZero(client, 'warm-up');
  const emptyMiB = residentMiB();
  const readyMs = await timed(() => rolledOut(client, deployment('bench', pods), pods));
  const fullMiB = residentMiB();
  const updateMs = await timed(async () => {
    const template = { metadata: { annotations: { round: '2' } } };
    const { metadata } = await client.patch(DEPLOYMENTS, { namespace: NAMESPACE, name: 'bench' }, { spec: { template } });
    await untilReady(client, 'bench', pods, metadata.generation ?? 0);
  });
  const scaleToZeroMs = await timed(() => scaledToZero(client, 'bench'));
  const cpuBefore = cpuMs();
  const applyMs = await timed(() => applyAll(client));
  const applyCpuMs = cpuMs() - cpuBefore;
  return {
    readyMs,
    updateMs,
    scaleToZeroMs,
    emptyMiB,
    fullMiB,
    kibPerPod: Math.round(((fullMiB - emptyMiB) * 1024) / pods),
    appliesPerSecond: Math.round((APPLIED / applyMs) * 1000),
    cpuMsPerApply: Number((applyCpuMs / APPLIED).toFixed(2)),
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return Math.round(performance.now() - begun);
}

function deployment(name: string, replicas: number): Deployment {
  const labels = { app: name };
  const container = { name: 'main', image: BUSYBOX_IMAGE, command: ['sh', '-c', "trap 'exit 0' TERM; sleep 86400 & wait"] };
  const template = { metadata: { labels }, spec: { terminationGracePeriodSeconds: 5, containers: [container] } };
  const metadata = { name, namespace: NAMESPACE };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: { replicas, selector: { matchLabels: labels }, template },
  } as Deployment; // the server fills in the rest
}

async function rolledOut(client: Client, object: Deployment, pods: number): Promise<void> {
  const { metadata } = await client.create(DEPLOYMENTS, object);
  await untilReady(client, object.metadata.name, pods, metadata.generation ?? 0);
}

/** All are new, all are ready, and no other is left: as `kubectl rollout status` has it. */
async function untilReady(client: Client, name: string, pods: number, generation: number): Promise<void> {
  await untilSo(`${name} to be ready`, async () => {
    const { status = {} } = (await client.get(DEPLOYMENTS, { namespace: NAMESPACE, name })) ?? {};
    const { observedGeneration = 0, replicas, updatedReplicas, availableReplicas } = status;
    return observedGeneration >= generation && [replicas, updatedReplicas, availableReplicas].every((count) => count === pods);
  });
}

async function scaledToZero(client: Client, name: string): Promise<void> {
  await client.patch(DEPLOYMENTS, { namespace: NAMESPACE, name }, { spec: { replicas: 0 } });
  const left = async () => (await client.list(PODS, { namespace: NAMESPACE, labelSelector: `app=${name}` })).items.length;
  await untilSo(`the Pods of ${name} to go`, async () => (await left()) === 0);
}

async function untilSo(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; !(await isSo()); await systemClock.sleep(LOOK_EVERY_MS))
    if (performance.now() > end) throw new Error(`waited ${PATIENCE_MS / 1000} s for ${what}`);
}

async function applyAll(client: Client): Promise<void> {
  const names = Array.from({ length: APPLIED }, (_, index) => `applied-${index}`);
  const worker = async () => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { text: 'x'.repeat(500), name } };
      const response = await client.request(`/api/v1/namespaces/${NAMESPACE}/configmaps/${name}?fieldManager=bench`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/apply-patch+yaml' },
        body: JSON.stringify(body),
      });
      await response.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
