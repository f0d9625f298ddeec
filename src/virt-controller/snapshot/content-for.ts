/** What is kept of a machine. Pure. */

import { VOLUME_SNAPSHOTS, type VolumeSnapshot } from '../../api/core/volume-snapshot.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineSnapshot } from '../../api/kubevirt/kinds/vm-snapshot.ts';
import { type VirtualMachineSnapshotContent, VM_SNAPSHOT_CONTENTS } from '../../api/kubevirt/kinds/vm-snapshot-content.ts';
import { FINALIZER_VM_SNAPSHOT_CONTENT } from '../../api/kubevirt/names.ts';
import type { VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import { claimOf } from '../../api/kubevirt/volumes/source-of.ts';
import { controllerReferenceTo } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/resource.ts';
import { isObject } from '../../base/json.ts';
import { type Backup, memoryFor, suspendedSpec } from './memory.ts';
import type { ObservedVmSnapshot } from './observed.ts';

/** The volumes of a machine that are kept, with their claims, and the others: made anew at each start, or shared with somebody who goes on writing. */
export function volumesOf({ domain, volumes = [] }: Pick<VmiSpec, 'domain' | 'volumes'>) {
  const shared = new Set(domain.devices?.filesystems?.map(({ name }) => name));
  const included = volumes.flatMap((volume) => {
    const claim = claimOf(volume);
    return claim && !claim.isReadOnly && !shared.has(volume.name) ? [{ volumeName: volume.name, claimName: claim.claimName }] : [];
  });
  const excluded = volumes.map(({ name }) => name).filter((name) => !included.some(({ volumeName }) => volumeName === name));
  return { included, excluded };
}

export function contentNameOf({ metadata }: VirtualMachineSnapshot): string {
  return `vmsnapshot-content-${metadata.uid}`;
}

/** The machine that is kept: a guest that runs is of what its machine was at its start. */
export function specToKeep(seen: Pick<ObservedVmSnapshot, 'vm' | 'vmi' | 'revision' | 'kept'>): VirtualMachine['spec'] | undefined {
  const { vm, vmi, revision } = seen;
  if (!vmi) return suspendedSpec(seen) ?? vm?.spec;
  const spec = revision && isObject(revision.data) ? revision.data['spec'] : undefined;
  return isObject(spec) ? (spec as VirtualMachine['spec']) : vm?.spec; // written by the controller of machines
}

/** The object that says what was kept and where. */
export function contentFor(observed: ObservedVmSnapshot, vm: VirtualMachine): VirtualMachineSnapshotContent {
  const { snapshot, claims } = observed;
  const { namespace, uid, name } = snapshot.metadata;
  const spec = specToKeep(observed) ?? vm.spec;
  const { labels, annotations } = vm.metadata;
  const memory = memoryFor(observed);
  const metadata = {
    name: vm.metadata.name,
    namespace,
    uid: vm.metadata.uid,
    ...(labels && { labels }),
    ...(annotations && { annotations }),
  };
  return {
    apiVersion: apiVersionOf(VM_SNAPSHOT_CONTENTS),
    kind: 'VirtualMachineSnapshotContent',
    metadata: { name: contentNameOf(snapshot), namespace, finalizers: [FINALIZER_VM_SNAPSHOT_CONTENT] },
    spec: {
      virtualMachineSnapshotName: name,
      source: { virtualMachine: { metadata, spec } },
      volumeBackups: volumesOf(spec.template.spec).included.flatMap(({ volumeName, claimName }) => {
        const claim = claims.get(claimName);
        if (!claim) return [];
        const { labels, annotations, uid: claimUid } = claim.metadata;
        const kept = { name: claimName, namespace, uid: claimUid, ...(labels && { labels }), ...(annotations && { annotations }) };
        const persistentVolumeClaim = { metadata: kept, spec: claim.spec as Backup['persistentVolumeClaim']['spec'] }; // the words are those of Kubernetes
        return [{ volumeName, persistentVolumeClaim, volumeSnapshotName: `vmsnapshot-${uid}-volume-${volumeName}` }];
      }),
      ...(memory && { memory }),
    },
  };
}

/** The snapshot of one claim, which goes with the content. */
export function volumeSnapshotFor(content: VirtualMachineSnapshotContent, backup: Backup): VolumeSnapshot {
  const { volumeSnapshotName = '', persistentVolumeClaim } = backup;
  return {
    apiVersion: apiVersionOf(VOLUME_SNAPSHOTS),
    kind: 'VolumeSnapshot',
    metadata: { name: volumeSnapshotName, namespace: content.metadata.namespace, ownerReferences: [controllerReferenceTo(content)] },
    spec: { source: { persistentVolumeClaimName: persistentVolumeClaim.metadata.name } },
  };
}
