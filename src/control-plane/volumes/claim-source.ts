/** What the content of a claim begins as. Pure. */
import type { PersistentVolume, PersistentVolumeClaim, VolumeMode } from '../../api/core/volume.ts';
import { SNAPSHOT_GROUP, type VolumeSnapshot } from '../../api/core/volume-snapshot.ts';
import { formatBytes, parseQuantity } from '../../base/quantity.ts';
import type { CopyState } from './folder-copies.ts';

/** The snapshot that a claim begins as, and how far the copy for the claim is. */
export type ClaimSource = {
  readonly snapshot: VolumeSnapshot | undefined;
  readonly copy: CopyState;
  /** Of the claim that the snapshot is of; that of a folder when nobody says. */
  readonly volumeMode?: VolumeMode | undefined;
};
/** Begins to copy the data of the snapshot to where the volume of the claim is going to be. */
export type FillVolume = { readonly do: 'fill volume'; readonly because: string };
/** Begins to remove a copy that no volume is made for. */
export type DiscardCopy = { readonly do: 'discard copy'; readonly because: string };

/** The VolumeSnapshot that a claim names as its source. */
export function snapshotSourceOf({ spec }: Pick<PersistentVolumeClaim, 'spec' | 'metadata'>): string | undefined {
  const source = spec.dataSource ?? spec.dataSourceRef;
  return source?.kind === 'VolumeSnapshot' && source.apiGroup === SNAPSHOT_GROUP && !source.namespace ? source.name : undefined;
}

/** A source that nobody here can copy from, in words. */
export function unknownSourceOf({ spec, metadata }: PersistentVolumeClaim): string | undefined {
  const source = spec.dataSource ?? spec.dataSourceRef;
  if (!source || snapshotSourceOf({ spec, metadata }) !== undefined) return undefined;
  return source.namespace ? `${source.kind} ${source.name} of another namespace` : `${source.kind} ${source.name}`;
}

/** Why the claim cannot be made from its snapshot now; undefined when it can. */
export function whyNotFrom(claim: PersistentVolumeClaim, { snapshot, copy, volumeMode = 'Filesystem' }: ClaimSource): string | undefined {
  const name = snapshotSourceOf(claim);
  if (!snapshot) return `volumesnapshot "${name}" not found`;
  if (!snapshot.status?.readyToUse) return `volumesnapshot "${name}" is not ready`;
  const { volumeMode: wanted = 'Filesystem' } = claim.spec;
  if (wanted !== volumeMode) return `volumesnapshot "${name}" is of a PVC with volumeMode ${volumeMode}, and this one has ${wanted}`;
  const least = parseQuantity(snapshot.status.restoreSize ?? '0') ?? 0;
  if ((parseQuantity(claim.spec.resources?.requests?.['storage'] ?? '0') ?? 0) < least)
    return `volumesnapshot "${name}" needs a PVC of at least ${formatBytes(least)}`;
  return copy.is === 'failed' ? `cannot copy volumesnapshot "${name}": ${copy.message}` : undefined;
}

/** A copy was made for a claim, and no volume has it. */
export function isLeftOver(source: ClaimSource | undefined, volume: PersistentVolume | undefined): boolean {
  return source !== undefined && source.copy.is !== 'none' && volume === undefined;
}
