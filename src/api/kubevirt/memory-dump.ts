/** Dumps of a guest's memory to a PVC: which guests are being dumped, and what a PVC has to be for it. Pure. */
import { parseQuantity } from '../../base/quantity.ts';
import type { PersistentVolumeClaim } from '../core/volume.ts';
import type { VirtualMachineInstance, VmiStatus } from './kinds/virtual-machine-instance.ts';
import { guestMemoryBytesOf } from './vmi-size.ts';
import type { VmiSpec } from './vmi-spec-schema.ts';
import { FILE_SYSTEM_OVERHEAD } from './volumes/disk-size.ts';
import { dumpClaimNameOf } from './volumes/dump-volume.ts';

type VolumeEntry = NonNullable<VmiStatus['volumeStatus']>[number];

const MIB = 2 ** 20;
/** Video memory, firmware, and the notes and headers of the file; as much as KubeVirt adds. */
const OTHER_BYTES = 100 * MIB;
/** Of a machine that does not say how much memory it has. */
const DEFAULT_MEMORY_BYTES = 2 ** 30;

/** What the instance tells of it. */
export function dumpEntryOf({ status }: Pick<VirtualMachineInstance, 'status'>): VolumeEntry | undefined {
  return status?.volumeStatus?.find(({ memoryDumpVolume }) => memoryDumpVolume !== undefined);
}

/** The PVC that the memory of this guest is being dumped to, or is about to be, or was a moment ago; undefined for any other guest. */
export function dumpingTo({ spec, status }: Pick<VirtualMachineInstance, 'spec' | 'status'>): string | undefined {
  return dumpClaimNameOf(spec) ?? dumpEntryOf({ status })?.memoryDumpVolume?.claimName;
}

/** How large a dump of this guest can get. */
export function dumpBytesOf(spec: VmiSpec): number {
  return (guestMemoryBytesOf(spec) ?? DEFAULT_MEMORY_BYTES) + OTHER_BYTES;
}

/** How large a PVC has to be to take that many, in whole MiB; as KubeVirt's virtctl makes one for one. */
export function dumpClaimBytesOf(spec: VmiSpec, dumps = 1): number {
  return Math.ceil((dumps * dumpBytesOf(spec) * (1 + FILE_SYSTEM_OVERHEAD)) / MIB) * MIB;
}

/** Why a PVC cannot take the dump of this guest; undefined when it can. */
export function whyNotDumpClaim({ metadata: { name }, spec, status }: PersistentVolumeClaim, vmi: VmiSpec): string | undefined {
  if (spec.volumeMode === 'Block') return `PVC ${name} is a block device: a dump needs one with a file system (volumeMode Filesystem)`;
  const modes = spec.accessModes ?? [];
  if (modes.length > 0 && modes.every((mode) => mode === 'ReadOnlyMany')) return `PVC ${name} is read-only (ReadOnlyMany)`;
  const size = status?.capacity?.['storage'] ?? spec.resources?.requests?.['storage'];
  const [bytes, needed] = [size === undefined ? undefined : parseQuantity(size), dumpClaimBytesOf(vmi)];
  if (bytes !== undefined && bytes < needed)
    return `PVC ${name} has ${size}, a dump of this guest needs ${needed / MIB}Mi: its memory, 100Mi for its devices, and what a file system needs itself`;
  return undefined;
}
