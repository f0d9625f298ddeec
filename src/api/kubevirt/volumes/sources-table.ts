/** The sources that a volume can have. One that its schema names and that is not here does not compile; the launcher has its builder. */
import { ephemeral, persistentVolumeClaim } from './claim.ts';
import { cloudInitNoCloud } from './cloud-init.ts';
import { containerDisk } from './container-disk.ts';
import { emptyDisk } from './empty-disk.ts';
import type { SourceData, SourceName, VolumeSource } from './volume-source.ts';

export const VOLUME_SOURCES: { readonly [Name in SourceName]: VolumeSource<SourceData<Name>> } = {
  containerDisk,
  registryDisk: containerDisk,
  cloudInitNoCloud,
  persistentVolumeClaim,
  ephemeral,
  emptyDisk,
};
