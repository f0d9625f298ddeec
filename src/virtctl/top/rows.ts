/** What guests use, as lines of a table. Pure. */
import type { Usage } from '../../api/handler/answers.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { guestMemoryBytesOf, vcpusOf } from '../../api/kubevirt/vmi-size.ts';
import { formatBytes } from '../../base/quantity.ts';

export type Measured = { readonly vmi: VirtualMachineInstance; readonly first?: Usage | undefined; readonly second?: Usage | undefined };

const MEBIBYTE = 2 ** 20;

/** The busiest first; who was not measured comes last. */
export function usageRows(measured: readonly Measured[], isAcross: boolean): string[][] {
  const header = [...(isAcross ? ['NAMESPACE'] : []), 'NAME', 'CPU(cores)', 'CPUS', 'MEMORY(bytes)', 'GUEST', 'NODE'];
  const sorted = measured.toSorted((a, b) => (coresOf(b) ?? -1) - (coresOf(a) ?? -1));
  return [header, ...sorted.map((each) => rowOf(each, isAcross))];
}

function rowOf(measured: Measured, isAcross: boolean): string[] {
  const { vmi, second } = measured;
  const { name, namespace = '' } = vmi.metadata;
  const cores = coresOf(measured);
  const guestBytes = guestMemoryBytesOf(vmi.spec);
  return [
    ...(isAcross ? [namespace] : []),
    name,
    cores === undefined ? '-' : `${Math.round(cores * 1000)}m`,
    String(vcpusOf(vmi.spec)),
    second ? `${Math.round(second.memoryBytes / MEBIBYTE)}Mi` : '-',
    guestBytes === undefined ? '-' : formatBytes(guestBytes),
    vmi.status?.nodeName ?? '-',
  ];
}

/** Between the two measurements; undefined when the guest started anew in between. */
function coresOf({ first, second }: Measured): number | undefined {
  if (!first || !second || second.atMs <= first.atMs || second.cpuSeconds < first.cpuSeconds) return undefined;
  return ((second.cpuSeconds - first.cpuSeconds) * 1000) / (second.atMs - first.atMs);
}
