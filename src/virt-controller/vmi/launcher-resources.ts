/** What a launcher Pod asks of its node: the guest's memory and processors, and what QEMU needs on top. Pure. */
import type { ResourceRequirements } from '../../api/core/pod.ts';
import { guestMemoryBytesOf, vcpusOf } from '../../api/kubevirt/vmi-size.ts';
import type { VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import { formatBytes, formatCores, parseQuantity } from '../../base/quantity.ts';

/**
 * What QEMU needs beside guest memory: its own code and heap, the translation cache of software emulation, video memory. An allowance,
 * not a measurement. It is below upstream's 288 MiB for a small guest because no other process stays in the Pod.
 */
const OVERHEAD_BYTES = 150 * 2 ** 20;
/** One real processor for ten virtual ones. */
const CPU_ALLOCATION_RATIO = 10;

/** Explicit requests and limits win; only limits given means requests equal to them, hence the Guaranteed class. */
export function launcherResources(spec: VmiSpec): ResourceRequirements {
  const { requests = {}, limits = {} } = spec.domain.resources ?? {};
  const memory = parse(requests['memory']) ?? parse(limits['memory']) ?? guestMemoryBytesOf(spec);
  const cpu = parse(requests['cpu']) ?? parse(limits['cpu']) ?? vcpusOf(spec) / CPU_ALLOCATION_RATIO;
  const memoryLimit = parse(limits['memory']);
  const cpuLimit = parse(limits['cpu']);
  const bounds = {
    ...others(limits),
    ...(memoryLimit !== undefined && { memory: formatBytes(memoryLimit + OVERHEAD_BYTES) }),
    ...(cpuLimit !== undefined && { cpu: formatCores(cpuLimit) }),
  };
  return {
    requests: { ...others(requests), memory: formatBytes((memory ?? 0) + OVERHEAD_BYTES), cpu: formatCores(cpu) },
    ...(Object.keys(bounds).length > 0 && { limits: bounds }),
  };
}

function others(amounts: Readonly<Record<string, string | number>>): Record<string, string> {
  const rest = Object.entries(amounts).filter(([name]) => name !== 'memory' && name !== 'cpu');
  return Object.fromEntries(rest.map(([name, amount]) => [name, String(amount)]));
}

function parse(quantity: string | number | undefined): number | undefined {
  return quantity === undefined ? undefined : parseQuantity(quantity);
}
