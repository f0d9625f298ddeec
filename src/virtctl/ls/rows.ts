/** Machines as lines of a table. Pure. */

import type { Service } from '../../api/core/service.ts';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { isFinal, type VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ANNOTATION_DISK_IMAGE } from '../../api/kubevirt/names.ts';
import { guestMemoryBytesOf, vcpusOf } from '../../api/kubevirt/vmi-size.ts';
import type { VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import { claimOf, imageOf } from '../../api/kubevirt/volumes/source-of.ts';
import { keyOf } from '../../api/meta.ts';
import { humanDuration } from '../../base/duration.ts';
import { formatBytes } from '../../base/quantity.ts';
import { hostAddressesByMachine } from '../../sdk/host-addresses.ts';

export type Listing = {
  readonly vms: readonly VirtualMachine[];
  readonly vmis: readonly VirtualMachineInstance[];
  /** They tell what the disks on them began as. */
  readonly claims?: readonly PersistentVolumeClaim[];
  /** They tell where this machine reaches the guests. */
  readonly services?: readonly Service[];
  readonly now: number;
  readonly isWide: boolean;
  /** With a column for the namespace. */
  readonly isAcross: boolean;
};

type Machine = { readonly vm?: VirtualMachine; readonly vmi?: VirtualMachineInstance };
type Around = {
  readonly now: number;
  readonly claims: readonly PersistentVolumeClaim[];
  readonly addresses: ReadonlyMap<string, readonly string[]>;
};

/** The header and a line per machine, instances without a machine included. */
export function vmRows({ vms, vmis, claims = [], services = [], now, isWide, isAcross }: Listing): string[][] {
  const around = { now, claims, addresses: hostAddressesByMachine(services) };
  const isShown = { wide: isWide, across: isAcross, reached: around.addresses.size > 0 };
  const columns = COLUMNS.filter(([, , when]) => when === undefined || isShown[when]);
  const header = columns.map(([title]) => title);
  return [header, ...vmsOf(vms, vmis).map((machine) => columns.map(([, cell]) => cell(machine, around) ?? '-'))];
}

/** Every machine with its instance, by namespace and name. */
function vmsOf(vms: readonly VirtualMachine[], vmis: readonly VirtualMachineInstance[]): Machine[] {
  const machines = new Map<string, Machine>(vms.map((vm) => [keyOf(vm.metadata), { vm }]));
  for (const vmi of vmis) machines.set(keyOf(vmi.metadata), { ...machines.get(keyOf(vmi.metadata)), vmi });
  return [...machines].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, machine]) => machine);
}

type Column = readonly [
  title: string,
  cell: (machine: Machine, around: Around) => string | undefined,
  when?: 'wide' | 'across' | 'reached',
];

const COLUMNS: readonly Column[] = [
  ['NAMESPACE', (machine) => metaOf(machine)?.namespace, 'across'],
  ['NAME', (machine) => metaOf(machine)?.name],
  ['STATUS', ({ vm, vmi }) => vm?.status?.printableStatus ?? vmi?.status?.phase],
  ['AGE', (machine, { now }) => ageOf(metaOf(machine)?.creationTimestamp, now)],
  [
    'IP',
    ({ vmi }) => (vmi && isFinal(vmi) ? undefined : vmi)?.status?.interfaces?.map(({ ipAddress }) => ipAddress).find((address) => address),
  ],
  ['NODE', ({ vmi }) => vmi?.status?.nodeName],
  ['ADDRESSES', (machine, { addresses }) => addresses.get(keyOf(metaOf(machine) ?? { name: '' }))?.join(' '), 'reached'],
  ['CPUS', (machine) => numberOf(specOf(machine), vcpusOf), 'wide'],
  ['MEMORY', (machine) => memoryOf(specOf(machine)), 'wide'],
  ['IMAGE', (machine, { claims }) => diskImageOf(machine, claims), 'wide'],
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

/** The image that it boots from, or that its disk began as. */
function diskImageOf(machine: Machine, claims: readonly PersistentVolumeClaim[]): string | undefined {
  const volumes = specOf(machine)?.volumes ?? [];
  const namespace = metaOf(machine)?.namespace;
  const claimed = (name: string | undefined) => claims.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
  return volumes
    .map((volume) => imageOf(volume)?.image ?? claimed(claimOf(volume)?.claimName)?.metadata.annotations?.[ANNOTATION_DISK_IMAGE])
    .find((image) => image);
}
