/**
 * What of a machine its clone does not have: what must not be there twice in one network, and what the filters of the clone take away. Pure.
 *
 *   addresses of interfaces       those of newMacAddresses; otherwise none, so that each start gives one that follows from the new machine
 *   firmware uuid                 none: it follows from the new machine
 *   firmware serial               newSMBiosSerial, or none
 *   labels, annotations           those that the filters let pass
 */
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineClone } from '../../api/kubevirt/kinds/vm-clone.ts';
import { ANNOTATION_LAST_RESTORE } from '../../api/kubevirt/names.ts';

type Words = Readonly<Record<string, string>>;

/** The machine that a restore would make, as the clone wants it. */
export function clonedVm(vm: VirtualMachine, { spec: wanted }: VirtualMachineClone): VirtualMachine {
  const { template } = vm.spec;
  const annotations = filtered(vm.metadata.annotations, wanted.annotationFilters);
  const restoredBy = vm.metadata.annotations?.[ANNOTATION_LAST_RESTORE];
  return {
    ...vm,
    metadata: {
      ...vm.metadata,
      labels: filtered(vm.metadata.labels, wanted.labelFilters),
      annotations: { ...annotations, ...(restoredBy !== undefined && { [ANNOTATION_LAST_RESTORE]: restoredBy }) },
    },
    spec: {
      ...vm.spec,
      template: {
        ...template,
        metadata: {
          ...template.metadata,
          labels: filtered(template.metadata?.labels, wanted.template?.labelFilters),
          annotations: filtered(template.metadata?.annotations, wanted.template?.annotationFilters),
        },
        spec: { ...template.spec, domain: clonedDomain(template.spec.domain, wanted) },
      },
    },
  };
}

type Domain = VirtualMachine['spec']['template']['spec']['domain'];

function clonedDomain(domain: Domain, { newMacAddresses = {}, newSMBiosSerial }: VirtualMachineClone['spec']): Domain {
  const { firmware, devices } = domain;
  const { uuid: _uuid, serial: _serial, ...others } = firmware ?? {};
  const interfaces = devices.interfaces?.map(({ macAddress: _, ...each }) => {
    const macAddress = newMacAddresses[each.name];
    return { ...each, ...(macAddress !== undefined && { macAddress }) };
  });
  return {
    ...domain,
    ...((firmware || newSMBiosSerial) && { firmware: { ...others, ...(newSMBiosSerial && { serial: newSMBiosSerial }) } }),
    devices: { ...devices, ...(interfaces && { interfaces }) },
  };
}

/** Filters are those of KubeVirt: `*` is everything, a leading `!` takes away; the last that fits decides nothing, one that takes away always does. */
export function filtered(words: Words = {}, filters: readonly string[] | undefined): Words {
  if (filters === undefined) return words;
  const away = filters.filter((each) => each.startsWith('!')).map((each) => matcherOf(each.slice(1)));
  const kept = filters.filter((each) => !each.startsWith('!')).map(matcherOf);
  return Object.fromEntries(
    Object.entries(words).filter(([key]) => (kept.length === 0 || kept.some((fits) => fits(key))) && !away.some((fits) => fits(key))),
  );
}

/** Not a regular expression of the author's: one may take for ever. Only `*` stands for something. */
function matcherOf(filter: string): (key: string) => boolean {
  const parts = filter.replaceAll('.*', '*').replaceAll('\\.', '.').split('*');
  return (key) => {
    let at = 0;
    for (const [index, part] of parts.entries()) {
      const isLast = index === parts.length - 1;
      const found = index === 0 ? (key.startsWith(part) ? 0 : -1) : isLast ? lastOf(key, part, at) : key.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return at === key.length || parts.at(-1) === '';
  };
}

function lastOf(key: string, part: string, at: number): number {
  return key.endsWith(part) && key.length - part.length >= at ? key.length - part.length : -1;
}
