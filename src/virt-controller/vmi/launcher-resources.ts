/** What a launcher Pod asks of its node: the guest's memory and processors, and what QEMU needs on top. Pure. */
import type { Node } from '../../api/core/node.ts';
import type { ResourceRequirements } from '../../api/core/pod.ts';
import { type ClusterConfiguration, DEFAULT_CONFIGURATION } from '../../api/kubevirt/configuration/cluster-configuration.ts';
import { RESOURCE_KVM } from '../../api/kubevirt/names.ts';
import { guestMemoryBytesOf, vcpusOf } from '../../api/kubevirt/vmi-size.ts';
import type { VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import { formatBytes, formatCores, parseQuantity } from '../../base/quantity.ts';

const MIB = 2 ** 20;
/**
 * What QEMU needs beside guest memory. Measured as Pss less that of the guest's memory, in /proc/PID/smaps a second after "guest ready":
 * QEMU 7.2, software emulation, one processor, 128 MiB guest, 74 and 75 MiB without graphics (two runs), 78 MiB with (one run). 32 MiB of that is
 * the cache of translated code, which is 128 MiB for guests of 512 MiB and more. The rest is room: a guest may fill its 16 MiB of video
 * memory, and a processor more was not measured and counts what it does upstream.
 */
const OVERHEAD_BYTES = { base: 80 * MIB, graphics: 20 * MIB, largeGuest: 96 * MIB, perFurtherCpu: 8 * MIB } as const;
const LARGE_GUEST_BYTES = 512 * MIB;
/** Explicit requests and limits win; only limits given means requests equal to them, hence the Guaranteed class. */
export function launcherResources(
  spec: VmiSpec,
  {
    hasKvm = false,
    configuration = DEFAULT_CONFIGURATION,
  }: { readonly hasKvm?: boolean | undefined; readonly configuration?: ClusterConfiguration } = {},
): ResourceRequirements {
  const overhead = launcherOverheadBytes(spec, configuration);
  const { requests = {}, limits = {} } = spec.domain.resources ?? {};
  const memory = parse(requests['memory']) ?? parse(limits['memory']) ?? overcommitted(spec, configuration);
  const cpu = parse(requests['cpu']) ?? parse(limits['cpu']) ?? vcpusOf(spec) / configuration.cpuAllocationRatio;
  const memoryLimit = parse(limits['memory']);
  const cpuLimit = parse(limits['cpu']);
  const bounds = {
    ...(hasKvm && !configuration.isEmulated && { [RESOURCE_KVM]: '1' }), // requested by that, too
    ...others(limits),
    ...(memoryLimit !== undefined && { memory: formatBytes(memoryLimit + overhead) }),
    ...(cpuLimit !== undefined && { cpu: formatCores(cpuLimit) }),
  };
  return {
    requests: {
      ...others(requests),
      memory: formatBytes((memory ?? 0) + (spec.domain.resources?.overcommitGuestOverhead ? 0 : overhead)),
      cpu: formatCores(cpu),
    },
    ...(Object.keys(bounds).length > 0 && { limits: bounds }),
  };
}

/** What is set aside for a launcher beside the memory of its guest. */
export function launcherOverheadBytes(spec: VmiSpec, { overheadRatio }: ClusterConfiguration): number {
  return Math.ceil(overheadBytes(spec) * overheadRatio) + addedOverhead(spec);
}

/** What somebody knows better than we do. */
function addedOverhead({ domain }: VmiSpec): number {
  return Math.max(0, Math.ceil(parse(domain.memory?.reservedOverhead?.addedOverhead) ?? 0));
}

/** What is set aside for the memory of a guest that asks for nothing else. */
function overcommitted(spec: VmiSpec, { memoryOvercommit }: ClusterConfiguration): number | undefined {
  const bytes = guestMemoryBytesOf(spec);
  return bytes === undefined ? undefined : Math.ceil((bytes * 100) / memoryOvercommit);
}

/** Whether a node gives its KVM to Pods. */
export function offersKvm({ status }: Node): boolean {
  return (parse(status?.allocatable?.[RESOURCE_KVM]) ?? 0) > 0;
}

/** Whether these alone would put a Pod into the Guaranteed class. */
export function isGuaranteed({ requests = {}, limits = {} }: ResourceRequirements): boolean {
  return ['memory', 'cpu'].every((name) => limits[name] !== undefined && limits[name] === requests[name]);
}

function overheadBytes(spec: VmiSpec): number {
  const { base, graphics, largeGuest, perFurtherCpu } = OVERHEAD_BYTES;
  const hasGraphics = spec.domain.devices.autoattachGraphicsDevice !== false;
  const isLarge = (guestMemoryBytesOf(spec) ?? 0) >= LARGE_GUEST_BYTES;
  return base + (hasGraphics ? graphics : 0) + (isLarge ? largeGuest : 0) + (vcpusOf(spec) - 1) * perFurtherCpu;
}

function others(amounts: Readonly<Record<string, string | number>>): Record<string, string> {
  const rest = Object.entries(amounts).filter(([name]) => name !== 'memory' && name !== 'cpu');
  return Object.fromEntries(rest.map(([name, amount]) => [name, String(amount)]));
}

function parse(quantity: string | number | undefined): number | undefined {
  return quantity === undefined ? undefined : parseQuantity(quantity);
}
