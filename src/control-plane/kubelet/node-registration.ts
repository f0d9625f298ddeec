/** Keeps this node known: its Node object, its status every few minutes, its lease every few seconds. */
import { readFileSync, statfsSync } from 'node:fs';
import { arch, availableParallelism, hostname, release, totalmem } from 'node:os';
import { LEASES, type Lease } from '../../api/core/lease.ts';
import { NODES } from '../../api/core/node.ts';
import { isReady } from '../../api/core/taints.ts';
import { isApiError } from '../../base/errors.ts';
import { bootId } from '../../base/node/process-identity.ts';
import type { KubeletContext } from './kubelet-context.ts';
import { type Machine, nodeFor, nodeLabels, nodeStatus, partOf } from './node-object.ts';

const LEASE_NAMESPACE = 'kube-node-lease';
const LEASE_EVERY_MS = 10_000;
const LEASE_SECONDS = 40;
const STATUS_EVERY_MS = 300_000;
const RETRY_MS = 1_000;

export type RegistrationOptions = {
  readonly context: KubeletContext;
  readonly podCidr: string;
  readonly share: number;
  readonly onRegistered: () => void;
};

/** Registers, then renews until the signal aborts; failures are logged and tried again. */
export async function keepNodeRegistered({ context, podCidr, share, onRegistered }: RegistrationOptions): Promise<void> {
  const { clock, log, signal } = context;
  const machine = partOf(measureVm(context.rootDir), share);
  let statusAt = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    let pauseMs = LEASE_EVERY_MS;
    try {
      // Whoever missed us has written that nobody knows how we are, or has deleted us; nobody but us takes that back.
      if (clock.steady() - statusAt >= STATUS_EVERY_MS || (await isGivenUp(context))) {
        await writeNode(context, machine, podCidr);
        statusAt = clock.steady();
        onRegistered();
      }
      await renewLease(context);
    } catch (error) {
      if (!signal.aborted) log.warn('cannot report the state of this node, trying again', { error });
      pauseMs = RETRY_MS;
    }
    await clock.sleep(pauseMs, signal);
  }
}

async function isGivenUp({ client, nodeName }: KubeletContext): Promise<boolean> {
  const node = await client.get(NODES, { name: nodeName });
  return !node || !isReady(node);
}

async function writeNode({ client, nodeName, hostIP, clock }: KubeletContext, machine: Machine, podCidr: string): Promise<void> {
  const found = await client.get(NODES, { name: nodeName });
  const node = found ?? (await client.create(NODES, nodeFor({ nodeName, machine, podCidr })));
  const labels = nodeLabels(nodeName, machine);
  const isLabelled = Object.entries(labels).every(([key, value]) => node.metadata.labels?.[key] === value);
  if (!isLabelled) await client.patch(NODES, { name: nodeName }, { metadata: { labels } });
  const status = nodeStatus({ node, nodeName, machine, address: hostIP, now: clock.now() });
  await client.patch(NODES, { name: nodeName }, { status }, { subresource: 'status' });
}

async function renewLease({ client, nodeName, clock }: KubeletContext): Promise<void> {
  const at = { namespace: LEASE_NAMESPACE, name: nodeName };
  const renewTime = new Date(clock.now()).toISOString().replace('Z', '000Z'); // microseconds, as the API has it
  const spec = { holderIdentity: nodeName, leaseDurationSeconds: LEASE_SECONDS, renewTime };
  try {
    await client.patch(LEASES, at, { spec });
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
    const lease: Lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: at, spec };
    await client.create(LEASES, lease);
  }
}

function measureVm(dir: string): Machine {
  const limit = process.constrainedMemory();
  const memoryBytes = limit > 0 && limit < totalmem() ? limit : totalmem();
  const { blocks, bsize } = statfsSync(dir);
  return {
    hostname: hostname(),
    architecture: arch() === 'x64' ? 'amd64' : arch(),
    cpus: availableParallelism(),
    memoryBytes,
    diskBytes: blocks * bsize,
    kernelVersion: release(),
    osImage: /^PRETTY_NAME="?([^"\n]*)/m.exec(readText('/etc/os-release'))?.[1] ?? 'Linux',
    machineId: readText('/etc/machine-id').trim(),
    bootId: bootId(),
  };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
