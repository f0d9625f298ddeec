/** The disks of a machine in a few words each. Pure. */
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import { ANNOTATION_DISK_IMAGE, ANNOTATION_SHARED_FOLDER } from '../../api/kubevirt/names.ts';
import type { Volume } from '../../api/kubevirt/vmi-spec-schema.ts';
import { claimOf, imageOf } from '../../api/kubevirt/volumes/source-of.ts';

/** A line per volume: its name, what it is, and whether what the guest writes stays. */
export function diskLines(volumes: readonly Volume[], claims: readonly PersistentVolumeClaim[]): string[] {
  return volumes.map((volume) => `${volume.name}: ${whatIs(volume, claims)}`);
}

function whatIs(volume: Volume, claims: readonly PersistentVolumeClaim[]): string {
  const image = imageOf(volume)?.image;
  if (image !== undefined) return `image ${image}, changes are lost when it stops`;
  const name = claimOf(volume)?.claimName;
  if (name === undefined) return Object.keys(volume).filter((key) => key !== 'name')[0] ?? 'empty';
  const claim = claims.find(({ metadata }) => metadata.name === name);
  if (!claim) return `PVC ${name}, which does not exist`;
  const folder = claim.metadata.annotations?.[ANNOTATION_SHARED_FOLDER];
  if (folder !== undefined) return `folder ${folder} of the host`;
  const size = claim.status?.capacity?.['storage'] ?? claim.spec.resources?.requests?.['storage'];
  const began = claim.metadata.annotations?.[ANNOTATION_DISK_IMAGE];
  return [`PVC ${name}`, ...(size ? [size] : []), ...(began ? [`made from ${began}`] : [])].join(', ');
}
