/** VolumeSnapshot and its kin: how Kubernetes says that the content of a claim is to be kept. A cluster has them with its CSI drivers. */
import type { KubeObject } from '../meta.ts';
import type { Resource } from '../resource.ts';
import type { VolumeMode } from './volume.ts';

export const SNAPSHOT_GROUP = 'snapshot.storage.k8s.io';

/** Stands in the error of a VolumeSnapshot of ours whose disk could not be copied because somebody writes to it. */
export const BEING_WRITTEN = 'it is being written';

type SnapshotError = { readonly message?: string; readonly time?: string };

export type VolumeSnapshot = KubeObject & {
  readonly kind: 'VolumeSnapshot';
  readonly spec: {
    readonly source: { readonly persistentVolumeClaimName?: string; readonly volumeSnapshotContentName?: string };
    readonly volumeSnapshotClassName?: string;
  };
  readonly status?: {
    readonly boundVolumeSnapshotContentName?: string;
    /** The moment that the copy is of. */
    readonly creationTime?: string;
    readonly readyToUse?: boolean;
    /** The least size of a claim that is made from it. */
    readonly restoreSize?: string;
    readonly error?: SnapshotError;
  };
};
export type VolumeSnapshotContent = KubeObject & {
  readonly kind: 'VolumeSnapshotContent';
  readonly spec: {
    readonly deletionPolicy: 'Delete' | 'Retain';
    readonly driver: string;
    readonly source: { readonly volumeHandle?: string; readonly snapshotHandle?: string };
    readonly volumeSnapshotClassName?: string;
    /** Of the claim that it is of; undefined in old ones, which are of folders. */
    readonly sourceVolumeMode?: VolumeMode;
    readonly volumeSnapshotRef: {
      readonly apiVersion?: string;
      readonly kind?: string;
      readonly namespace?: string;
      readonly name?: string;
      readonly uid?: string;
    };
  };
  readonly status?: {
    readonly snapshotHandle?: string;
    /** Nanoseconds since the epoch, as drivers say it. */
    readonly creationTime?: number;
    readonly restoreSize?: number;
    readonly readyToUse?: boolean;
  };
};
export type VolumeSnapshotClass = KubeObject & {
  readonly kind: 'VolumeSnapshotClass';
  readonly driver: string;
  readonly deletionPolicy: 'Delete' | 'Retain';
};

export const VOLUME_SNAPSHOTS: Resource<VolumeSnapshot> = {
  group: SNAPSHOT_GROUP,
  version: 'v1',
  plural: 'volumesnapshots',
  kind: 'VolumeSnapshot',
  isNamespaced: true,
};
export const VOLUME_SNAPSHOT_CONTENTS: Resource<VolumeSnapshotContent> = {
  group: SNAPSHOT_GROUP,
  version: 'v1',
  plural: 'volumesnapshotcontents',
  kind: 'VolumeSnapshotContent',
  isNamespaced: false,
};
export const VOLUME_SNAPSHOT_CLASSES: Resource<VolumeSnapshotClass> = {
  group: SNAPSHOT_GROUP,
  version: 'v1',
  plural: 'volumesnapshotclasses',
  kind: 'VolumeSnapshotClass',
  isNamespaced: false,
};
