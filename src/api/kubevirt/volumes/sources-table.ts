/** The sources that a volume can have. One that its schema names and that is not here does not compile; the launcher has its builder. */
import { dataVolume, ephemeral, memoryDump, persistentVolumeClaim } from './claim.ts';
import { cloudInit } from './cloud-init.ts';
import { containerDisk } from './container-disk.ts';
import { emptyDisk } from './empty-disk.ts';
import { hostDisk } from './host-disk.ts';
import { configMap, downwardAPI, secret, serviceAccount, sysprep } from './object-files.ts';
import type { SourceData, SourceName, VolumeSource } from './volume-source.ts';

export const VOLUME_SOURCES: { readonly [Name in SourceName]: VolumeSource<SourceData<Name>> } = {
  containerDisk,
  registryDisk: containerDisk,
  cloudInitNoCloud: cloudInit,
  cloudInitConfigDrive: cloudInit,
  persistentVolumeClaim,
  dataVolume,
  ephemeral,
  memoryDump,
  emptyDisk,
  hostDisk,
  configMap,
  secret,
  downwardAPI,
  serviceAccount,
  sysprep,
};
