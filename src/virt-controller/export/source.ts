/**
 * What an export is of, and what has to come before it can be served. First match wins.
 *
 *   the source                                            waits for
 *   is not there, or a PVC of it is not                   it
 *   is a machine that runs, or is suspended               its end: what it has not written yet would be missing
 *   is a snapshot that is not whole                       that
 *   has a PVC that some other Pod uses                    the end of that Pod
 *   has a PVC that is still being filled, or not bound    that
 *
 * Pure.
 */
import type { Pod } from '../../api/core/pod.ts';
import { isPodFinal } from '../../api/core/pod.ts';
import { PERSISTENT_VOLUME_CLAIMS, type PersistentVolumeClaim } from '../../api/core/volume.ts';
import { SNAPSHOT_GROUP } from '../../api/core/volume-snapshot.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { isFinal, type VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { VirtualMachineExport } from '../../api/kubevirt/kinds/vm-export.ts';
import type { VirtualMachineSnapshot } from '../../api/kubevirt/kinds/vm-snapshot.ts';
import type { VirtualMachineSnapshotContent } from '../../api/kubevirt/kinds/vm-snapshot-content.ts';
import { ANNOTATION_DISK_FORMAT, CDI_ANNOTATIONS } from '../../api/kubevirt/names.ts';
import { claimOf } from '../../api/kubevirt/volumes/source-of.ts';
import { controllerReferenceTo, isDeleting } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/resource.ts';
import type { Claims } from '../vmi/claims.ts';
import type { ExportedVolume, ExportSource, Waiting } from './observed.ts';

export type SourceParts = {
  readonly export: VirtualMachineExport;
  readonly vm?: VirtualMachine | undefined;
  readonly vmi?: VirtualMachineInstance | undefined;
  readonly snapshot?: VirtualMachineSnapshot | undefined;
  readonly content?: VirtualMachineSnapshotContent | undefined;
  /** By the names that `claimNamesFor` gives. */
  readonly claims: Claims;
  /** Pods of the namespace that may use them, less that of the export. */
  readonly pods: readonly Pod[];
  /** PVCs whose DataVolume is not whole. */
  readonly unfilled: ReadonlySet<string>;
};
type Named = Omit<SourceParts, 'claims' | 'pods' | 'unfilled' | 'vmi'>;

/** The PVCs that matter. */
export function claimNamesFor(parts: Named): string[] {
  return volumesFor({ ...parts, claims: new Map() }).map(({ claimName }) => claimName);
}

export function exportSourceOf(parts: SourceParts): ExportSource {
  const volumes = volumesFor(parts);
  const kept = parts.content?.spec.source.virtualMachine;
  const machine = parts.vm ?? (kept && { metadata: kept.metadata, spec: kept.spec });
  return {
    volumes,
    waiting: waitingFor(parts, volumes),
    ...(machine && { machine: { metadata: { name: machine.metadata.name, ...ownMetadata(machine) }, spec: machine.spec } }),
  };
}

function ownMetadata({ metadata: { labels, annotations } }: Pick<VirtualMachine, 'metadata'>) {
  const kept = Object.entries(annotations ?? {}).filter(([key]) => !key.startsWith('kubectl.kubernetes.io/'));
  return { ...(labels && { labels }), ...(kept.length > 0 && { annotations: Object.fromEntries(kept) }) };
}

function volumesFor({ export: exported, vm, snapshot, content, claims }: Named & Pick<SourceParts, 'claims'>): ExportedVolume[] {
  const { kind, name } = exported.spec.source;
  const found = (claimName: string): ExportedVolume => ({ name: claimName, claimName, claim: claims.get(claimName) });
  if (kind === 'PersistentVolumeClaim') return [found(name)];
  if (kind === 'VirtualMachine') {
    const { domain, volumes = [] } = vm?.spec.template.spec ?? {};
    const shared = new Set(domain?.devices?.filesystems?.map((each) => each.name));
    const names = volumes.flatMap((volume) => (shared.has(volume.name) ? [] : (claimOf(volume)?.claimName ?? [])));
    return [...new Set(names)].map(found);
  }
  if (!snapshot) return [];
  return (content?.spec.volumeBackups ?? []).map((backup) => {
    const claimName = `export-${exported.metadata.uid}-${backup.volumeName}`;
    const made = restoredClaim(exported, claimName, backup);
    return { name: backup.persistentVolumeClaim.metadata.name, claimName, claim: claims.get(claimName), made };
  });
}

type Backup = NonNullable<VirtualMachineSnapshotContent['spec']['volumeBackups']>[number];

/** Begins as the snapshot, and goes with the export. */
function restoredClaim(owner: VirtualMachineExport, claimName: string, backup: Backup): PersistentVolumeClaim {
  const { metadata, spec } = backup.persistentVolumeClaim;
  const { volumeName: _volume, dataSource: _source, dataSourceRef: _reference, ...wish } = spec;
  const format = metadata.annotations?.[ANNOTATION_DISK_FORMAT];
  return {
    apiVersion: apiVersionOf(PERSISTENT_VOLUME_CLAIMS),
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: claimName,
      namespace: owner.metadata.namespace,
      ...(format !== undefined && { annotations: { [ANNOTATION_DISK_FORMAT]: format } }),
      ownerReferences: [controllerReferenceTo(owner)],
    },
    spec: { ...wish, dataSource: { apiGroup: SNAPSHOT_GROUP, kind: 'VolumeSnapshot', name: backup.volumeSnapshotName ?? '' } },
  };
}

function waitingFor(parts: SourceParts, volumes: readonly ExportedVolume[]): Waiting | undefined {
  const { kind, name } = parts.export.spec.source;
  const notReady = (message: string): Waiting => ({ reason: 'SourceNotReady', message });
  if (kind === 'VirtualMachine') {
    if (!parts.vm || isDeleting(parts.vm)) return notReady(`VirtualMachine ${name} does not exist`);
    if (parts.vmi && !isFinal(parts.vmi)) return { reason: 'InUse', message: `VirtualMachine ${name} is running: stop it` };
    if (parts.vm.status?.suspension)
      return {
        reason: 'InUse',
        message: `VirtualMachine ${name} is suspended, and its memory is a part of it: virtctl stop throws that away`,
      };
  }
  if (kind === 'VirtualMachineSnapshot' && !(parts.snapshot?.status?.readyToUse && parts.content))
    return notReady(parts.snapshot ? `snapshot ${name} is not whole yet` : `VirtualMachineSnapshot ${name} does not exist`);
  for (const volume of volumes) {
    const waiting = claimWaits(parts, volume);
    if (waiting) return waiting;
  }
  return undefined;
}

function claimWaits({ pods, unfilled }: SourceParts, { claim, claimName, made }: ExportedVolume): Waiting | undefined {
  if (made) return undefined; // of our own: its Pod is the first to use it
  if (!claim || isDeleting(claim)) return { reason: 'SourceNotReady', message: `PVC ${claimName} does not exist` };
  const user = pods.find((pod) => !isPodFinal(pod) && uses(pod, claimName));
  if (user) return { reason: 'InUse', message: `PVC ${claimName} is in use by Pod ${user.metadata.name}` };
  const { [CDI_ANNOTATIONS.podPhase]: phase, [CDI_ANNOTATIONS.uploadTarget]: upload } = claim.metadata.annotations ?? {};
  const isFilled = phase === undefined ? upload === undefined : phase === 'Succeeded';
  if (!isFilled || unfilled.has(claimName)) return { reason: 'VolumesNotPopulated', message: `PVC ${claimName} is not filled yet` };
  return claim.status?.phase === 'Bound' ? undefined : { reason: 'SourceNotReady', message: `PVC ${claimName} is not bound yet` };
}

function uses({ spec }: Pod, claimName: string): boolean {
  return (spec.volumes ?? []).some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === claimName);
}
