/** Claims, volumes and classes for tests; state only what matters. */
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../api/core/volume.ts';
import type { ObjectMeta } from '../../api/meta.ts';
import { CLAIM_PROTECTION, VOLUME_PROTECTION } from './decide-claim.ts';

/** A protected claim default/data (uid claim-1) for 1Gi of class local. */
export function claim(
  spec: Partial<PersistentVolumeClaim['spec']> = {},
  status: PersistentVolumeClaim['status'] = { phase: 'Pending' },
  metadata: Partial<ObjectMeta> = {},
): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: 'default', name: 'data', uid: 'claim-1', finalizers: [CLAIM_PROTECTION], ...metadata },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: 'local', ...spec },
    status,
  };
}

/** A protected, free volume v1 of 1Gi and class local. */
export function volume(
  spec: Partial<PersistentVolume['spec']> = {},
  status: PersistentVolume['status'] = { phase: 'Available' },
  metadata: Partial<ObjectMeta> = {},
): PersistentVolume {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'v1', uid: 'volume-1', finalizers: [VOLUME_PROTECTION], ...metadata },
    spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, storageClassName: 'local', ...spec },
    status,
  };
}

/** The class local, ours, and the default unless told otherwise. */
export function storageClass(isDefault = true, provisioner = 'kubevirt-ts.io/local'): StorageClass {
  const annotations = { 'storageclass.kubernetes.io/is-default-class': String(isDefault) };
  return { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: 'local', annotations }, provisioner };
}
