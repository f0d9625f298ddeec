/** Volumes: a name that can be one of a file, exactly one source, and what that source needs. */

import type { VmiSpec, Volume } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { isDumpVolume } from '../../../api/kubevirt/volumes/dump-volume.ts';
import { sourceCauses, sourceNamesOf } from '../../../api/kubevirt/volumes/source-of.ts';
import { invalidCause, requiredCause } from '../../../base/causes.ts';
import { dnsLabelCauses } from '../../../base/dns-name-causes.ts';
import type { StatusCause } from '../../../base/errors.ts';

/** Every reason to refuse a volume. Its name ends up in the names of files and of the volumes of a Pod. */
export function validateVolumes({ volumes = [] }: VmiSpec, path: string): StatusCause[] {
  const dump = volumes.findIndex(isDumpVolume);
  return volumes.flatMap((volume, index) => {
    const at = `${path}.volumes[${index}]`;
    return [
      ...dnsLabelCauses(`${at}.name`, volume.name),
      ...countCauses(volume, at),
      ...sourceCauses(volume, at),
      ...(isDumpVolume(volume) && index !== dump
        ? [invalidCause(`${at}.memoryDump`, volume.name, 'there is another memoryDump: a machine has at most one')]
        : []),
    ];
  });
}

function countCauses(volume: Volume, at: string): StatusCause[] {
  const given = sourceNamesOf(volume);
  if (given.length === 0) return [requiredCause(at, 'a volume has one source, such as containerDisk')];
  return given.length === 1 ? [] : [invalidCause(at, given.join(', '), 'a volume has only one source')];
}
