/** What a restore makes: claims that begin as snapshots, and a machine that uses them. Pure. */
import { PERSISTENT_VOLUME_CLAIMS, type PersistentVolumeClaim } from '../../api/core/volume.ts';
import { SNAPSHOT_GROUP } from '../../api/core/volume-snapshot.ts';
import { type VirtualMachine, VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineRestore } from '../../api/kubevirt/kinds/vm-restore.ts';
import type { VirtualMachineSnapshotContent } from '../../api/kubevirt/kinds/vm-snapshot-content.ts';
import { ANNOTATION_DISK_IMAGE, ANNOTATION_DISK_MADE, ANNOTATION_LAST_RESTORE } from '../../api/kubevirt/names.ts';
import { controllerReferenceTo, type OwnerReference } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/resource.ts';
import { backupsOf, MEMORY_BACKUP } from '../snapshot/memory.ts';

type Backup = NonNullable<VirtualMachineSnapshotContent['spec']['volumeBackups']>[number];

/** How the claim of a volume is called. */
export function claimNameFor(restore: VirtualMachineRestore, { volumeName, persistentVolumeClaim }: Named): string {
  const { spec, metadata } = restore;
  const before = persistentVolumeClaim?.metadata.name;
  const named = overrideFor(restore, volumeName)?.restoreName;
  if (named) return named;
  switch (spec.volumeRestorePolicy) {
    case 'PrefixTargetName':
      return `${spec.target.name}-${volumeName}`;
    case 'InPlace':
      return volumeName === MEMORY_BACKUP || before === undefined ? `restore-${metadata.uid}-${volumeName}` : before;
    case 'RandomizeNames':
    case undefined:
      return `restore-${metadata.uid}-${volumeName}`;
  }
}

/** That of the memory, which is of this restore whatever becomes of the volumes. */
export const MEMORY: Named = { volumeName: MEMORY_BACKUP };

type Named = Pick<Backup, 'volumeName'> & Partial<Pick<Backup, 'persistentVolumeClaim'>>;

function overrideFor({ spec }: VirtualMachineRestore, volumeName: string) {
  return spec.volumeRestoreOverrides?.find((each) => each.volumeName === volumeName);
}

/** Every claim that it makes; without its snapshot those that it has said, and that of memory. */
export function claimNamesOf(restore: VirtualMachineRestore, content: VirtualMachineSnapshotContent | undefined): readonly string[] {
  const names = (restore.status?.restores ?? []).map(({ persistentVolumeClaim }) => persistentVolumeClaim);
  const volumes: readonly Named[] = content ? backupsOf(content) : [MEMORY];
  return [...new Set([...names, ...volumes.map((each) => claimNameFor(restore, each))])];
}

/** The claim of one volume; owned by the machine when that is there already. */
export function claimFor(restore: VirtualMachineRestore, backup: Backup, vm: VirtualMachine | undefined): PersistentVolumeClaim {
  const { metadata, spec } = backup.persistentVolumeClaim;
  const override = overrideFor(restore, backup.volumeName);
  const { volumeName: _, dataSource: __, dataSourceRef: ___, ...rest } = spec;
  return {
    apiVersion: apiVersionOf(PERSISTENT_VOLUME_CLAIMS),
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: claimNameFor(restore, backup),
      namespace: restore.metadata.namespace,
      ...((metadata.labels || override?.labels) && { labels: { ...metadata.labels, ...override?.labels } }),
      annotations: { ...annotationsFor(backup), ...override?.annotations, [ANNOTATION_LAST_RESTORE]: restore.metadata.uid ?? '' },
      ...(vm && ownsClaims(restore) && { ownerReferences: [ownerOf(vm)] }),
    },
    spec: { ...rest, dataSource: { apiGroup: SNAPSHOT_GROUP, kind: 'VolumeSnapshot', name: backup.volumeSnapshotName ?? '' } },
  };
}

/** What the binder wrote is not copied, and the image of a disk that has been made is not needed again. */
function annotationsFor({ persistentVolumeClaim: { metadata } }: Backup): Readonly<Record<string, string>> {
  const { annotations = {}, uid } = metadata;
  const isMade = annotations[ANNOTATION_DISK_MADE] === uid;
  const isCopied = (key: string) =>
    !/(^|\.)kubernetes\.io\//.test(key) && key !== ANNOTATION_DISK_MADE && !(isMade && key === ANNOTATION_DISK_IMAGE);
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => isCopied(key)));
}

export function ownsClaims({ spec }: VirtualMachineRestore): boolean {
  return spec.volumeOwnershipPolicy !== 'None';
}

/** Not as its controller: it only goes with the machine. */
export function ownerOf(vm: VirtualMachine): OwnerReference {
  const { controller: _, blockOwnerDeletion: __, ...owner } = controllerReferenceTo(vm);
  return owner;
}

/** The machine as it was, with the new claims; a target that is there keeps saying when it runs, a new one does not run. */
export function specFor(
  restore: VirtualMachineRestore,
  content: VirtualMachineSnapshotContent,
  target: VirtualMachine | undefined,
): VirtualMachine['spec'] | undefined {
  const kept = content.spec.source.virtualMachine?.spec;
  if (!kept) return undefined;
  const { running, runStrategy, dataVolumeTemplates: _templates, ...others } = kept;
  const volumes = volumesWith(restore, content, kept.template.spec.volumes);
  const named = new Set(volumes?.map(({ dataVolume, persistentVolumeClaim }) => dataVolume?.name ?? persistentVolumeClaim?.claimName));
  // No DataVolume fills what is restored, under whatever name.
  for (const backup of content.spec.volumeBackups ?? []) named.delete(claimNameFor(restore, backup));
  const dataVolumeTemplates = kept.dataVolumeTemplates?.filter(({ metadata }) => named.has(metadata.name));
  const template = { ...kept.template, spec: { ...kept.template.spec, ...(volumes && { volumes }) } };
  const rest = { ...others, ...(dataVolumeTemplates?.length && { dataVolumeTemplates }) };
  const now = target?.spec;
  if (!now) return { ...rest, ...(running === undefined ? { runStrategy: 'Halted' } : { running: false }), template };
  return { ...rest, ...(now.running === undefined ? { runStrategy: now.runStrategy } : { running: now.running }), template };
}

type Volumes = VirtualMachine['spec']['template']['spec']['volumes'];

/** The volumes of a machine, on the new claims. */
export function volumesWith(restore: VirtualMachineRestore, content: VirtualMachineSnapshotContent | undefined, volumes: Volumes): Volumes {
  const restored = new Map((content?.spec.volumeBackups ?? []).map((backup) => [backup.volumeName, backup]));
  return volumes?.map((volume) => {
    const backup = restored.get(volume.name);
    if (!backup) return volume;
    const claimName = claimNameFor(restore, backup);
    const { dataVolume, persistentVolumeClaim, ...others } = volume;
    if (persistentVolumeClaim) return { ...others, persistentVolumeClaim: { ...persistentVolumeClaim, claimName } };
    return dataVolume ? { ...others, persistentVolumeClaim: { claimName } } : volume; // no DataVolume has filled it
  });
}

/** A machine that was not there. */
export function vmFor(restore: VirtualMachineRestore, content: VirtualMachineSnapshotContent): VirtualMachine | undefined {
  const spec = specFor(restore, content, undefined);
  const { labels, annotations } = content.spec.source.virtualMachine?.metadata ?? {};
  return (
    spec && {
      apiVersion: apiVersionOf(VMS),
      kind: 'VirtualMachine',
      metadata: {
        name: restore.spec.target.name,
        namespace: restore.metadata.namespace,
        ...(labels && { labels }),
        annotations: { ...annotations, [ANNOTATION_LAST_RESTORE]: restore.metadata.uid ?? '' },
      },
      spec,
    }
  );
}
