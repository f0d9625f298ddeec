/** The Node object of this machine. Pure: what the machine has is passed in. */
import type { Node } from '../../api/core/node.ts';
import { type Condition, conditionOf } from '../../api/meta.ts';
import { timestamp } from '../../base/timestamp.ts';

/** What a machine offers, measured once. */
export type Machine = {
  readonly hostname: string;
  /** As Kubernetes names it: amd64, arm64. */
  readonly architecture: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  readonly kernelVersion: string;
  readonly osImage: string;
  readonly machineId: string;
  readonly bootId: string;
};

/** The machine as one of several nodes on it shows it. */
export function partOf(machine: Machine, share: number): Machine {
  const { cpus, memoryBytes, diskBytes } = machine;
  return { ...machine, cpus: cpus * share, memoryBytes: memoryBytes * share, diskBytes: diskBytes * share };
}

const KUBELET_VERSION = 'v1.34.0';
const MAX_PODS = 110;

/** The object as it is made when there is none yet. */
export function nodeFor(options: { readonly nodeName: string; readonly machine: Machine; readonly podCidr: string }): Node {
  const { nodeName, machine, podCidr } = options;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: nodeName, labels: nodeLabels(nodeName, machine) },
    spec: { podCIDR: podCidr },
  };
}

/** Labels that schedulers and people look for; others may add more. */
export function nodeLabels(nodeName: string, { architecture }: Machine): Record<string, string> {
  const os = 'linux';
  return {
    'kubernetes.io/hostname': nodeName,
    'kubernetes.io/arch': architecture,
    'kubernetes.io/os': os,
    'beta.kubernetes.io/arch': architecture,
    'beta.kubernetes.io/os': os,
  };
}

/** Our part of the status, as a merge patch: devices and conditions that others report stay. */
export function nodeStatus(options: {
  readonly node: Node;
  readonly nodeName: string;
  readonly machine: Machine;
  readonly address: string;
  readonly now: number;
}): NonNullable<Node['status']> {
  const { node, nodeName, machine, address, now } = options;
  const amounts = {
    cpu: Number.isInteger(machine.cpus) ? String(machine.cpus) : `${Math.floor(machine.cpus * 1000)}m`,
    memory: `${Math.floor(machine.memoryBytes / 1024)}Ki`,
    'ephemeral-storage': `${Math.floor(machine.diskBytes / 1024)}Ki`,
    pods: String(MAX_PODS),
  };
  return {
    capacity: amounts,
    allocatable: amounts,
    conditions: nodeConditions(node.status?.conditions ?? [], now),
    addresses: [
      { type: 'InternalIP', address },
      { type: 'Hostname', address: nodeName },
    ],
    nodeInfo: {
      architecture: machine.architecture,
      bootID: machine.bootId,
      containerRuntimeVersion: 'process://1.0.0',
      kernelVersion: machine.kernelVersion,
      kubeProxyVersion: KUBELET_VERSION,
      kubeletVersion: KUBELET_VERSION,
      machineID: machine.machineId,
      operatingSystem: 'linux',
      osImage: machine.osImage,
      systemUUID: machine.machineId,
    },
  };
}

type NodeCondition = Condition & { readonly lastHeartbeatTime?: string };

const FINDINGS = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
] as const;

function nodeConditions(before: readonly Condition[], now: number): Condition[] {
  const own = FINDINGS.map(([type, status, reason, message]): NodeCondition => {
    const old = conditionOf(before, type);
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : timestamp(now);
    return { type, status, reason, message, lastHeartbeatTime: timestamp(now), lastTransitionTime };
  });
  return [...before.filter(({ type }) => !own.some((each) => each.type === type)), ...own];
}
