/** Shared folders: each is the folder of a PVC that no disk shows, on an installation that shares folders. */
import { type ClusterConfiguration, GATE_SHARED_FOLDERS } from '../../../api/kubevirt/configuration/cluster-configuration.ts';
import type { VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { claimOf } from '../../../api/kubevirt/volumes/source-of.ts';
import { invalidCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { FILESYSTEM_TAG } from '../../../qemu/convert/limits.ts';

export function validateFilesystems({ domain, volumes = [] }: VmiSpec, path: string, configuration: ClusterConfiguration): StatusCause[] {
  const { filesystems = [], disks = [] } = domain.devices;
  const at = `${path}.domain.devices.filesystems`;
  if (filesystems.length > 0 && !configuration.hasSharedFolders)
    return [invalidCause(at, filesystems.length, `virtiofs is not allowed: the feature gate ${GATE_SHARED_FOLDERS} is not enabled`)];
  const shown = new Set(disks.map(({ name, volumeName }) => volumeName || name));
  return filesystems.flatMap(({ name }, index) => {
    const field = `${at}[${index}].name`;
    const volume = volumes.find((each) => each.name === name);
    if (!FILESYSTEM_TAG.test(name))
      return [invalidCause(field, name.slice(0, 64), 'must be the name of a volume, of at most 36 characters')];
    if (!volume) return [invalidCause(field, name, 'there is no volume of this name')];
    if (!claimOf(volume)) return [invalidCause(field, name, 'only the folders of PVCs are shared')];
    return shown.has(name) ? [invalidCause(field, name, 'a disk shows the same volume')] : [];
  });
}
