/**
 * Whether the memory of an instance can be saved and loaded by another one, and if not, why not and what to do. First match wins.
 *
 *   a folder that is shared by virtiofs            what the guest has open there is known to one process alone
 *   a dump of its memory                           it is not over yet
 *   a backup of its disks                          it is not over yet
 *   file systems that are frozen                   they would be in its memory, and what thaws them is not
 *   a hotplugged volume                            the next instance would begin without it
 *   a disk that is a file of its node              another node has another one, or none
 *   a disk that ends with the Pod and is written   its memory would go on with another disk: containerDisk, emptyDisk, ephemeral
 *
 * Disks that are made anew of the same content (cloud-init, Secrets, ConfigMaps) and what is only read are no obstacle. Pure.
 */
import { backingUpTo } from './backup.ts';
import type { VirtualMachineInstance } from './kinds/virtual-machine-instance.ts';
import { dumpingTo } from './memory-dump.ts';
import type { Disk, Volume } from './vmi-spec-schema.ts';
import { hostFileOf, isHotpluggable } from './volumes/source-of.ts';

type Seen = Pick<VirtualMachineInstance, 'spec' | 'status'>;

const RULES: readonly ((vmi: Seen) => string | undefined)[] = [sharedFolder, dumped, backedUp, frozen, hotplugged, fileOfNode, lostDisk];
/** What a volume has that ends with its Pod, and what it is called. */
const LOST = {
  containerDisk: 'a containerDisk',
  registryDisk: 'a registryDisk',
  emptyDisk: 'an emptyDisk',
  ephemeral: 'an ephemeral copy of a PVC',
} as const;

/** Undefined when it can be suspended. */
export function whyNotSuspendable(vmi: Seen): string | undefined {
  for (const rule of RULES) {
    const why = rule(vmi);
    if (why !== undefined) return why;
  }
  return undefined;
}

function sharedFolder({ spec }: Seen): string | undefined {
  const [found] = spec.domain.devices.filesystems ?? [];
  return (
    found && `the folder ${found.name} is shared by virtiofs, whose state cannot be saved: remove it from the template and restart the VM`
  );
}

function dumped(vmi: Seen): string | undefined {
  const claimName = dumpingTo(vmi);
  return claimName && `its memory is being dumped to PVC ${claimName}: wait for that, or end it with virtctl memory-dump remove`;
}

function backedUp(vmi: Seen): string | undefined {
  const claimName = backingUpTo(vmi);
  return claimName && `its disks are being backed up to PVC ${claimName}: wait for that, or delete the VirtualMachineBackup`;
}

function frozen({ status }: Seen): string | undefined {
  return status?.fsFreezeStatus === 'frozen' ? 'its file systems are frozen, as for a snapshot: wait for that, or thaw them' : undefined;
}

function hotplugged({ spec, status }: Seen): string | undefined {
  const name = spec.volumes?.find(isHotpluggable)?.name ?? status?.volumeStatus?.find(({ hotplugVolume }) => hotplugVolume)?.name;
  return name === undefined ? undefined : `volume ${name} is hotplugged: virtctl removevolume takes it away`;
}

function fileOfNode({ spec }: Seen): string | undefined {
  const name = spec.volumes?.find(hostFileOf)?.name;
  return name && `disk ${name} is a file of its node, which another node does not have: put it on a PVC`;
}

function lostDisk({ spec }: Seen): string | undefined {
  for (const volume of spec.volumes ?? []) {
    const kind = (Object.keys(LOST) as (keyof typeof LOST)[]).find((name) => volume[name] !== undefined); // the keys of the table
    if (kind && isWritten(spec.domain.devices.disks, volume))
      return `disk ${volume.name} is ${LOST[kind]}, which ends with its Pod: put it on a PVC, as virtctl run --disk does, or a dataVolumeTemplate`;
  }
  return undefined;
}

function isWritten(disks: readonly Disk[] | undefined, { name }: Volume): boolean {
  const disk = disks?.find((each) => each.name === name);
  return disk !== undefined && disk.cdrom === undefined && (disk.lun ?? disk.disk)?.readonly !== true;
}
