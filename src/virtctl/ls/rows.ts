/** Machines as lines of a table. Pure. */
import type { VirtualMachine } from '../../api/kubevirt/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/virtual-machine-instance.ts';
import { guestMemoryBytesOf, vcpusOf } from '../../api/kubevirt/vmi-size.ts';
import type { VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import { keyOf } from '../../api/meta.ts';
import { humanDuration } from '../../base/duration.ts';
import { formatBytes } from '../../base/quantity.ts';

export type Listing = {
  readonly vms: readonly VirtualMachine[];
  readonly vmis: readonly VirtualMachineInstance[];
  readonly now: number;
  readonly isWide: boolean;
  /** With a column for the namespace. */
  readonly isAcross: boolean;
};

type Machine = { readonly vm?: VirtualMachine; readonly vmi?: VirtualMachineInstance };

/** The header and a line per machine, instances without a machine included. */
export function machineRows({ vms, vmis, now, isWide, isAcross }: Listing): string[][] {
  const columns = COLUMNS.filter(([, , when]) => (when === 'wide' ? isWide : when === 'across' ? isAcross : true));
  const header = columns.map(([title]) => title);
  return [header, ...machinesOf(vms, vmis).map((machine) => columns.map(([, cell]) => cell(machine, now) ?? '-'))];
}

/** Every machine with its instance, by namespace and name. */
function machinesOf(vms: readonly VirtualMachine[], vmis: readonly VirtualMachineInstance[]): Machine[] {
  const machines = new Map<string, Machine>(vms.map((vm) => [keyOf(vm.metadata), { vm }]));
  for (const vmi of vmis) machines.set(keyOf(vmi.metadata), { ...machines.get(keyOf(vmi.metadata)), vmi });
  return [...machines].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, machine]) => machine);
}

type Column = readonly [title: string, cell: (machine: Machine, now: number) => string | undefined, when?: 'wide' | 'across'];

const COLUMNS: readonly Column[] = [
  ['NAMESPACE', (machine) => metaOf(machine)?.namespace, 'across'],
  ['NAME', (machine) => metaOf(machine)?.name],
  ['STATUS', ({ vm, vmi }) => vm?.status?.printableStatus ?? vmi?.status?.phase],
  ['AGE', (machine, now) => ageOf(metaOf(machine)?.creationTimestamp, now)],
  ['IP', ({ vmi }) => vmi?.status?.interfaces?.map(({ ipAddress }) => ipAddress).find((address) => address)],
  ['NODE', ({ vmi }) => vmi?.status?.nodeName],
  ['CPUS', (machine) => numberOf(specOf(machine), vcpusOf), 'wide'],
  ['MEMORY', (machine) => memoryOf(specOf(machine)), 'wide'],
  ['IMAGE', (machine) => imageOf(specOf(machine)), 'wide'],
];

function metaOf({ vm, vmi }: Machine) {
  return vm?.metadata ?? vmi?.metadata;
}

/** What runs, else what would run. */
function specOf({ vm, vmi }: Machine): VmiSpec | undefined {
  return vmi?.spec ?? vm?.spec.template.spec;
}

function ageOf(since: string | undefined, now: number): string | undefined {
  return since && humanDuration(now - Date.parse(since));
}

function numberOf(spec: VmiSpec | undefined, count: (spec: VmiSpec) => number): string | undefined {
  return spec && String(count(spec));
}

function memoryOf(spec: VmiSpec | undefined): string | undefined {
  const bytes = spec && guestMemoryBytesOf(spec);
  return bytes === undefined ? undefined : formatBytes(bytes);
}

function imageOf(spec: VmiSpec | undefined): string | undefined {
  return spec?.volumes?.map((volume) => volume.containerDisk?.image ?? volume.registryDisk?.image).find((image) => image);
}
