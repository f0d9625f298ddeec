/** Volumes: a name that can be one of a file, exactly one source, and what that source needs. */

import type { ClusterConfiguration } from '../../../api/kubevirt/configuration/cluster-configuration.ts';
import { GATE_HOST_DISK } from '../../../api/kubevirt/configuration/host-disk-folders.ts';
import type { VmiSpec, Volume } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { isDumpVolume } from '../../../api/kubevirt/volumes/dump-volume.ts';
import { hostFileOf, sourceCauses, sourceNamesOf } from '../../../api/kubevirt/volumes/source-of.ts';
import { forbiddenCause, invalidCause, requiredCause } from '../../../base/causes.ts';
import { dnsLabelCauses } from '../../../base/dns-name-causes.ts';
import type { StatusCause } from '../../../base/errors.ts';

/** Every reason to refuse a volume. Its name ends up in the names of files and of the volumes of a Pod. */
export function validateVolumes({ volumes = [] }: VmiSpec, path: string, { hostDiskFolders }: ClusterConfiguration): StatusCause[] {
  const dump = volumes.findIndex(isDumpVolume);
  return volumes.flatMap((volume, index) => {
    const at = `${path}.volumes[${index}]`;
    return [
      ...dnsLabelCauses(`${at}.name`, volume.name),
      ...countCauses(volume, at),
      ...sourceCauses(volume, at),
      ...hostDiskCauses(volume, hostDiskFolders, `${at}.hostDisk`),
      ...(isDumpVolume(volume) && index !== dump
        ? [invalidCause(`${at}.memoryDump`, volume.name, 'there is another memoryDump: a machine has at most one')]
        : []),
    ];
  });
}

/** In the folder itself, not below: nothing that somebody else has made lies on the way to the file. */
function hostDiskCauses(volume: Volume, folders: ClusterConfiguration['hostDiskFolders'], at: string): StatusCause[] {
  if (!volume.hostDisk) return [];
  if (!folders) return [forbiddenCause(at, `the feature gate ${GATE_HOST_DISK} is not enabled`)];
  const { folder } = hostFileOf(volume) ?? {};
  if (folder === undefined || folders.some(({ path }) => path === folder)) return [];
  const allowed = folders.map(({ path }) => path).join(', ') || 'there is none';
  return [
    forbiddenCause(`${at}.path`, `the file has to be in one of the folders that an administrator has named for this namespace: ${allowed}`),
  ];
}

function countCauses(volume: Volume, at: string): StatusCause[] {
  const given = sourceNamesOf(volume);
  if (given.length === 0) return [requiredCause(at, 'a volume has one source, such as containerDisk')];
  return given.length === 1 ? [] : [invalidCause(at, given.join(', '), 'a volume has only one source')];
}
