/** The persistent volume claims that an instance uses: whether they are there, and how large a new disk on each of them is. Pure. */
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import { ANNOTATION_DISK_FORMAT, ANNOTATION_DISK_IMAGE, ANNOTATION_DISK_MADE } from '../../api/kubevirt/names.ts';
import type { VmiSpec, Volume } from '../../api/kubevirt/vmi-spec-schema.ts';
import { diskBytesFrom } from '../../api/kubevirt/volumes/disk-size.ts';
import { claimOf } from '../../api/kubevirt/volumes/source-of.ts';

/** Claims by name; undefined for one that does not exist. */
export type Claims = ReadonlyMap<string, PersistentVolumeClaim | undefined>;

/** Every claim that an instance uses, once. */
export function claimNamesOf({ volumes = [] }: VmiSpec): string[] {
  return [...new Set(volumes.flatMap((volume) => claimOf(volume)?.claimName ?? []))];
}

/** What an instance without a Pod waits for, in words: a claim that does not exist yet. */
export function missingClaimMessage(namespace: string | undefined, claims: Claims | undefined): string | undefined {
  const missing = [...(claims ?? [])].find(([, claim]) => claim === undefined);
  return missing && `PVC ${namespace}/${missing[0]} does not exist, waiting for it to appear`;
}

/** Why a claim will not be bound by itself: it names no class, and where there is a default one the server would have written that in. */
export function classlessClaimMessage(namespace: string | undefined, claims: Claims | undefined): string | undefined {
  const found = [...(claims ?? [])].find(
    ([, claim]) => claim && claim.status?.phase !== 'Bound' && claim.spec.storageClassName === undefined && !claim.spec.volumeName,
  );
  return (
    found &&
    `PVC ${namespace}/${found[0]} names no storage class, and this cluster has no default one: kubectl annotate storageclass NAME storageclass.kubernetes.io/is-default-class=true, or make the PVC again with a storageClassName`
  );
}

/** For each volume that is a claim, the size of the disk to make when it has none. */
export function newDiskBytes({ volumes = [] }: VmiSpec, claims: Claims | undefined): Readonly<Record<string, number>> {
  return Object.fromEntries(
    volumes.flatMap((volume) => {
      const claim = claims?.get(writableClaimOf(volume) ?? '');
      const bytes = claim && diskBytesOn(claim);
      return bytes === undefined ? [] : [[volume.name, bytes]];
    }),
  );
}

/** How large a disk on a claim is: the claim's size, less what a file system needs itself. */
export function diskBytesOn({ spec, status }: PersistentVolumeClaim): number | undefined {
  // A claim that waits for its first user has no capacity yet, and gets at least what it asks for.
  return diskBytesFrom(status?.capacity?.['storage'] ?? spec.resources?.requests?.['storage'], spec.volumeMode);
}

/** The image that the disk of a volume begins as, when its claim names one and has no disk yet; a volume that is only read is never filled. */
export function diskImageOf(volume: Volume, claims: Claims | undefined): string | undefined {
  const claim = claims?.get(writableClaimOf(volume) ?? '');
  return claim && !hasDisk(claim) ? claim.metadata.annotations?.[ANNOTATION_DISK_IMAGE]?.trim() || undefined : undefined;
}

/** The claims whose disk began as an image and is not known to be made. */
export function claimsToMark({ volumes = [] }: VmiSpec, claims: Claims | undefined): readonly PersistentVolumeClaim[] {
  const found = volumes.flatMap((volume) => (diskImageOf(volume, claims) ? (claims?.get(writableClaimOf(volume) ?? '') ?? []) : []));
  return [...new Set(found)];
}

/** A guest has run from it: a claim that carries the mark of another one was copied from that, and its disk was not. */
function hasDisk({ metadata: { uid, annotations } }: PersistentVolumeClaim): boolean {
  return uid !== undefined && annotations?.[ANNOTATION_DISK_MADE] === uid;
}

/** The format that the claim of a volume says its disk has, if it says one. */
export function diskFormatOf(volume: Volume, claims: Claims | undefined): string | undefined {
  return claims?.get(claimOf(volume)?.claimName ?? '')?.metadata.annotations?.[ANNOTATION_DISK_FORMAT]?.trim() || undefined;
}

function writableClaimOf(volume: Volume): string | undefined {
  const claim = claimOf(volume);
  return claim?.isReadOnly ? undefined : claim?.claimName;
}
