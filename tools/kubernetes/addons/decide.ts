/**
 * What the provisioner of class `local` does. Kubernetes' own controllers bind what it makes and say when it is free again.
 *
 *   when                                                      then
 *   a claim of class local is Pending and has no volume yet   make one; from a snapshot when that is ready
 *   a volume of ours is Released, reclaim policy Delete       remove its data, then the volume
 *
 * Pure: no clock, no I/O, no randomness.
 */

import { ANNOTATION_PROVISIONED_BY, type PersistentVolume, type PersistentVolumeClaim } from '../../../src/api/core/volume.ts';
import type { VolumeSnapshot } from '../../../src/api/core/volume-snapshot.ts';
import { parseQuantity } from '../../../src/base/quantity.ts';
import { snapshotSourceOf } from '../../../src/control-plane/volumes/claim-source.ts';
import { handleOf } from '../../../src/control-plane/volumes/decide-snapshot.ts';

export const STORAGE_CLASS = 'local';
export const PROVISIONER = 'kubevirt-ts.io/test-cluster';

export type Step =
  | {
      readonly do: 'make';
      readonly claim: PersistentVolumeClaim;
      readonly name: string;
      readonly bytes: number;
      readonly isBlock: boolean;
      /** The folder that it begins as a copy of. */
      readonly from?: string;
    }
  | { readonly do: 'remove'; readonly volume: PersistentVolume };

export function decideSteps(
  claims: readonly PersistentVolumeClaim[],
  volumes: readonly PersistentVolume[],
  snapshots: readonly VolumeSnapshot[] = [],
): Step[] {
  const names = new Set(volumes.map(({ metadata }) => metadata.name));
  const wanting = claims.filter(isWanting).filter((claim) => !names.has(volumeName(claim)));
  return [
    ...wanting.flatMap((claim): Step[] => {
      const bytes = parseQuantity(claim.spec.resources?.requests?.['storage'] ?? '0') ?? 0;
      const step: Step = { do: 'make', claim, name: volumeName(claim), bytes, isBlock: claim.spec.volumeMode === 'Block' };
      const source = snapshotSourceOf(claim);
      if (source === undefined) return [step];
      const snapshot = snapshots.find(({ metadata }) => metadata.namespace === claim.metadata.namespace && metadata.name === source);
      return snapshot?.status?.readyToUse && !step.isBlock ? [{ ...step, from: handleOf(snapshot) }] : [];
    }),
    ...volumes.filter(isToRemove).map((volume): Step => ({ do: 'remove', volume })),
  ];
}

/** The volume for a claim. A block device has to be on the nodes it is used on, and is on all of them. */
export function volumeFor(step: Step & { readonly do: 'make' }, path: string, nodes: readonly string[]): PersistentVolume {
  const { claim, name, isBlock } = step;
  const { namespace, name: claimName, uid } = claim.metadata;
  const onNodes = {
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: nodes }] }] },
  };
  const spec = {
    accessModes: claim.spec.accessModes ?? [],
    capacity: { storage: claim.spec.resources?.requests?.['storage'] ?? '0' },
    claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name: claimName, uid },
    persistentVolumeReclaimPolicy: 'Delete' as const,
    storageClassName: STORAGE_CLASS,
    ...(isBlock
      ? { volumeMode: 'Block' as const, local: { path }, nodeAffinity: onNodes }
      : { volumeMode: 'Filesystem' as const, hostPath: { path, type: 'Directory' } }),
  };
  const metadata = { name, annotations: { [ANNOTATION_PROVISIONED_BY]: PROVISIONER } };
  return { apiVersion: 'v1', kind: 'PersistentVolume', metadata, spec };
}

function volumeName({ metadata }: PersistentVolumeClaim): string {
  return `pvc-${metadata.uid}`;
}

function isWanting({ metadata, spec, status }: PersistentVolumeClaim): boolean {
  const isPending = (status?.phase ?? 'Pending') === 'Pending' && !spec.volumeName && !metadata.deletionTimestamp;
  return isPending && spec.storageClassName === STORAGE_CLASS && !spec.selector;
}

function isToRemove({ metadata, spec, status }: PersistentVolume): boolean {
  const isOurs = metadata.annotations?.[ANNOTATION_PROVISIONED_BY] === PROVISIONER;
  return isOurs && status?.phase === 'Released' && spec.persistentVolumeReclaimPolicy === 'Delete';
}
