/** Which disks of a machine go when it is deleted, and which stay, as the folders do that it shares: for whoever is asked before that is done. Pure. */
import type { PersistentVolumeClaim } from '../api/core/volume.ts';
import { DATA_VOLUMES } from '../api/kubevirt/kinds/data-volume.ts';
import type { VirtualMachine } from '../api/kubevirt/kinds/virtual-machine.ts';
import { ANNOTATION_SHARED_FOLDER } from '../api/kubevirt/names.ts';
import { claimOf } from '../api/kubevirt/volumes/source-of.ts';

export type DiskFate = {
  readonly name: string;
  readonly size: string;
  readonly isLost: boolean;
  /** The path of a folder of the host, which is no disk and has no size. */ readonly folder?: string;
};

/** The claims that a machine has as disks. */
export function claimNamesOf(vm: VirtualMachine): string[] {
  return [...new Set((vm.spec.template.spec.volumes ?? []).flatMap((volume) => claimOf(volume)?.claimName ?? []))];
}

/**
 * Lost is what belongs to the machine, or to a DataVolume that was made from its templates: disks that it no longer uses, too, as after a restore. `claims`
 * has what is there.
 */
export function diskFates(vm: VirtualMachine, claims: readonly PersistentVolumeClaim[]): DiskFate[] {
  const templates = new Set(vm.spec.dataVolumeTemplates?.map(({ metadata }) => metadata.name));
  const names = new Set(claimNamesOf(vm));
  const here = claims.filter(({ metadata }) => metadata.namespace === vm.metadata.namespace);
  return here.flatMap(({ metadata, spec, status }) => {
    const owners = metadata.ownerReferences ?? [];
    const isOwn = owners.some(({ uid }) => uid === vm.metadata.uid);
    if (!isOwn && !names.has(metadata.name)) return [];
    const folder = metadata.annotations?.[ANNOTATION_SHARED_FOLDER];
    if (folder !== undefined) return [{ name: metadata.name, size: '', isLost: false, folder }];
    const isLost = isOwn || owners.some(({ kind, name }) => kind === DATA_VOLUMES.kind && templates.has(name));
    return [{ name: metadata.name, size: status?.capacity?.['storage'] ?? spec.resources?.requests?.['storage'] ?? '?', isLost }];
  });
}
