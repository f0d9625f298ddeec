/** What an instance tells of its volumes: the name under which the guest sees each, and the claim behind it. Pure. */

import { startedSpec } from '../../api/kubevirt/hotplug.ts';
import type { VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { normaliseVmiSpec } from '../../api/kubevirt/normalise-vmi-spec.ts';
import type { Disk, VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import { claimOf } from '../../api/kubevirt/volumes/source-of.ts';
import type { Claims } from './claims.ts';

type VolumeStatus = NonNullable<VmiStatus['volumeStatus']>[number];
type ClaimInfo = NonNullable<VolumeStatus['persistentVolumeClaimInfo']>;

/** One entry per volume that the guest starts with, by name; undefined without volumes. */
export function volumeStatusOf(written: VmiSpec, claims: Claims | undefined): VmiStatus['volumeStatus'] {
  const { volumes = [], domain } = startedSpec(normaliseVmiSpec(written));
  if (volumes.length === 0) return undefined;
  const targets = targetsOf(domain.devices.disks ?? []);
  return volumes
    .map((volume): VolumeStatus => {
      const info = claimInfo(claimOf(volume)?.claimName, claims);
      return { name: volume.name, target: targets.get(volume.name) ?? '', ...(info && { persistentVolumeClaimInfo: info }) };
    })
    .toSorted((a, b) => a.name.localeCompare(b.name));
}

/** virtio disks are vda, vdb, ...; all others count together as sda, sdb, ... in the order of the list. */
function targetsOf(disks: readonly Disk[]): ReadonlyMap<string, string> {
  const seen = { vd: 0, sd: 0 };
  return new Map(
    disks.map(({ name, disk, cdrom }) => {
      const prefix = (cdrom ?? disk)?.bus === 'virtio' ? 'vd' : 'sd';
      return [name, `${prefix}${letters(seen[prefix]++)}`];
    }),
  );
}

/** a, b, ... z, aa, ab, ... */
function letters(index: number): string {
  const last = String.fromCharCode(97 + (index % 26));
  return index < 26 ? last : `${letters(Math.floor(index / 26) - 1)}${last}`;
}

/** The claim as it is now; undefined when it is not there. */
export function claimInfo(claimName: string | undefined, claims: Claims | undefined): ClaimInfo | undefined {
  const claim = claimName === undefined ? undefined : claims?.get(claimName);
  if (!claimName || !claim) return undefined;
  const { spec, status } = claim;
  const accessModes = status?.accessModes ?? spec.accessModes;
  return {
    claimName,
    ...(accessModes && { accessModes: [...accessModes] as ClaimInfo['accessModes'] }), // the API server lets in no others
    ...(status?.capacity && { capacity: status.capacity }),
    ...(spec.resources?.requests && { requests: spec.resources.requests }),
    volumeMode: spec.volumeMode ?? 'Filesystem',
  };
}
