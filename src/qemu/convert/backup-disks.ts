/** Which disks of an instance are in its backups: those that are on PVCs and that the guest can write to. By the names that QMP has for them. Pure. */
import { hotplugDisksOf, startedSpec } from '../../api/kubevirt/hotplug.ts';
import { normaliseVmiSpec } from '../../api/kubevirt/normalise-vmi-spec.ts';
import type { Disk, VmiSpec, Volume } from '../../api/kubevirt/vmi-spec-schema.ts';
import { pluggedNames } from '../../api/launcher/attachment.ts';
import { isReadOnlyDisk } from './disks.ts';
import { imageNode } from './input.ts';

export type BackupDiskNode = { readonly volume: string; readonly device: string; readonly node: string };

/** What ends with the Pod, what is only read and what is made anew at each start is in none. */
export function backupDisksOf(spec: VmiSpec): BackupDiskNode[] {
  const normal = normaliseVmiSpec(spec);
  const { volumes = [], domain } = startedSpec(normal);
  const started = (domain.devices.disks ?? []).flatMap((disk, index): BackupDiskNode[] => {
    const volume = volumes.find(({ name }) => name === disk.name);
    return volume && isKept(volume, disk) ? [{ volume: volume.name, device: `disk${index}`, node: imageNode(index) }] : [];
  });
  const plugged = hotplugDisksOf(normal).flatMap(({ volume, disk }): BackupDiskNode[] => {
    const { device, node } = pluggedNames(volume.name);
    return isKept(volume, disk) ? [{ volume: volume.name, device, node }] : [];
  });
  return [...started, ...plugged];
}

function isKept({ persistentVolumeClaim, dataVolume }: Volume, disk: Disk): boolean {
  const isClaim = persistentVolumeClaim ? persistentVolumeClaim.readOnly !== true : dataVolume !== undefined;
  return isClaim && !isReadOnlyDisk(disk);
}
