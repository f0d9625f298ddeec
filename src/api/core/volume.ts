/** PersistentVolume, PersistentVolumeClaim and StorageClass: the fields that our components read or write. */

import type { KubeObject } from '../meta.ts';
import type { Resource } from '../resource.ts';
import type { ObjectReference } from './event.ts';

export type VolumeMode = 'Filesystem' | 'Block';
type DataSource = { readonly apiGroup?: string; readonly kind: string; readonly name: string; readonly namespace?: string };
export type PersistentVolumeClaim = KubeObject & {
  readonly kind: 'PersistentVolumeClaim';
  readonly spec: {
    readonly accessModes?: readonly string[];
    readonly volumeMode?: VolumeMode;
    /** Undefined asks for the default class, the empty text for none. */
    readonly storageClassName?: string;
    readonly volumeName?: string;
    readonly selector?: object;
    /** What its content begins as; either of the two names. */
    readonly dataSource?: DataSource;
    readonly dataSourceRef?: DataSource;
    readonly resources?: { readonly requests?: Readonly<Record<string, string>> };
  };
  readonly status?: {
    readonly phase?: 'Pending' | 'Bound' | 'Lost';
    readonly accessModes?: readonly string[];
    readonly capacity?: Readonly<Record<string, string>>;
    /** How far an expansion is that did not succeed at once; null takes it away in a patch. */
    readonly allocatedResourceStatuses?: Readonly<Record<string, string>> | null;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
  };
};
export type PersistentVolume = KubeObject & {
  readonly kind: 'PersistentVolume';
  readonly spec: {
    readonly accessModes?: readonly string[];
    readonly capacity?: Readonly<Record<string, string>>;
    readonly claimRef?: ObjectReference;
    readonly hostPath?: { readonly path: string; readonly type?: string };
    readonly persistentVolumeReclaimPolicy?: 'Retain' | 'Delete' | 'Recycle';
    readonly storageClassName?: string;
    readonly volumeMode?: VolumeMode;
  };
  readonly status?: { readonly phase?: 'Pending' | 'Available' | 'Bound' | 'Released' | 'Failed'; readonly message?: string };
};
export type StorageClass = KubeObject & {
  readonly kind: 'StorageClass';
  readonly provisioner: string;
  readonly reclaimPolicy?: 'Retain' | 'Delete';
  readonly volumeBindingMode?: 'Immediate' | 'WaitForFirstConsumer';
};

export const PERSISTENT_VOLUME_CLAIMS: Resource<PersistentVolumeClaim> = {
  group: '',
  version: 'v1',
  plural: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
  isNamespaced: true,
};
export const PERSISTENT_VOLUMES: Resource<PersistentVolume> = {
  group: '',
  version: 'v1',
  plural: 'persistentvolumes',
  kind: 'PersistentVolume',
  isNamespaced: false,
};
export const STORAGE_CLASSES: Resource<StorageClass> = {
  group: 'storage.k8s.io',
  version: 'v1',
  plural: 'storageclasses',
  kind: 'StorageClass',
  isNamespaced: false,
};

/** Which provisioner made a volume. */
export const ANNOTATION_PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by';
/** Our own: a folder on this machine for each volume. */
export const LOCAL_PROVISIONER = 'kubevirt-ts.io/local';
/** As well: a folder of the host that an administrator shares with a machine. What is in it is never ours to change or to remove. */
export const SHARED_FOLDER_PROVISIONER = 'kubevirt-ts.io/shared-folder';

/** The condition of a claim that cannot be given what it asks for; as Kubernetes calls it. */
export const CONTROLLER_RESIZE_ERROR = 'ControllerResizeError';

/** Why a claim is not given the larger size that it asks for; undefined when nobody has refused it. */
export function whyNotResized({ status }: Pick<PersistentVolumeClaim, 'status'>): string | undefined {
  const refusal = status?.conditions?.find(({ type, status: is }) => type === CONTROLLER_RESIZE_ERROR && is === 'True');
  return refusal && (refusal.message ?? 'nobody said why');
}

/** Whether a volume is a folder of the host that is shared with machines, and with nobody else. */
export function isSharedFolder({ metadata }: Pick<PersistentVolume, 'metadata'>): boolean {
  return metadata.annotations?.[ANNOTATION_PROVISIONED_BY] === SHARED_FOLDER_PROVISIONER;
}
