/** How large the PVCs of instances are while their guests run: one that has grown is told to the instance, whose disk follows. Pure. */
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import type { VirtualMachineInstance, VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { keyOf } from '../../api/meta.ts';
import { deepEqual } from '../../base/json.ts';
import { type Claims, claimNamesOf } from './claims.ts';

const BY_CLAIM = 'claim';

/** For a cache of instances: the PVCs that each of them uses. */
export const byClaim = {
  [BY_CLAIM]: ({ metadata: { namespace }, spec }: VirtualMachineInstance) => claimNamesOf(spec).map((name) => keyOf({ namespace, name })),
};

/** What is kept of each PVC of a cluster: there may be very many, and nothing but their sizes is asked of the copy. */
export function sizesOnly({ apiVersion, kind, metadata, spec, status }: PersistentVolumeClaim): PersistentVolumeClaim {
  const { namespace, name, uid, resourceVersion } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { namespace, name, uid, resourceVersion },
    spec: {
      ...(spec?.volumeMode && { volumeMode: spec.volumeMode }),
      ...(spec?.resources?.requests && { resources: { requests: spec.resources.requests } }),
    },
    ...(status?.capacity && { status: { capacity: status.capacity } }),
  };
}

/** The instances that a PVC of this name concerns. */
export function instancesWith(
  vmis: { byIndex(index: string, value: string): readonly VirtualMachineInstance[] },
  { metadata }: Pick<PersistentVolumeClaim, 'metadata'>,
): string[] {
  return vmis.byIndex(BY_CLAIM, keyOf(metadata)).map((vmi) => keyOf(vmi.metadata));
}

/** The volumes of a status with the sizes that their PVCs have now; one that is not there any more has the last. */
export function withClaimSizes(volumeStatus: VmiStatus['volumeStatus'], sizes: Claims | undefined): VmiStatus['volumeStatus'] {
  if (!sizes || !volumeStatus) return volumeStatus;
  return volumeStatus.map((entry) => {
    const info = entry.persistentVolumeClaimInfo;
    const claim = sizes.get(info?.claimName ?? '');
    if (!info || !claim?.status?.capacity) return entry;
    const now = { ...info, capacity: claim.status.capacity, requests: claim.spec.resources?.requests ?? info.requests };
    return deepEqual(now, info) ? entry : { ...entry, persistentVolumeClaimInfo: now };
  });
}
