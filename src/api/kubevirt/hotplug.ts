/** Volumes that come and go while the guest runs: which ones they are, and the machine without them, which is the one that QEMU is started with. Pure. */
import { controllerOf, type KubeObject } from '../meta.ts';
import { ANNOTATION_EPHEMERAL_VOLUMES } from './names.ts';
import type { Disk, VmiSpec, Volume } from './vmi-spec-schema.ts';
import { isDumpVolume } from './volumes/dump-volume.ts';
import { isHotpluggable } from './volumes/source-of.ts';

/** How far a hotplugged volume is, in KubeVirt's words. `Detaching` is on its way out, `UnMountedFromPod` is out of the guest. */
export const HOTPLUG_PHASES = ['Pending', 'Bound', 'AttachedToNode', 'MountedToPod', 'Ready', 'Detaching', 'UnMountedFromPod'] as const;
export type HotplugPhase = (typeof HOTPLUG_PHASES)[number];

/** What a disk of such a volume can be plugged into. */
export const HOTPLUG_BUSES = ['scsi', 'virtio'] as const;
export const DEFAULT_HOTPLUG_BUS = 'scsi';

/** A disk and its volume. */
export type HotplugDisk = { readonly volume: Volume; readonly disk: Disk };

/** Those of an instance, which has a disk for each of its volumes. */
export function hotplugDisksOf({ volumes = [], domain }: VmiSpec): HotplugDisk[] {
  const disks = new Map((domain.devices.disks ?? []).map((disk) => [disk.name, disk]));
  return volumes.filter(isHotpluggable).flatMap((volume) => {
    const disk = disks.get(volume.name);
    return disk ? [{ volume, disk }] : [];
  });
}

/** What QEMU is started with: places and ids of devices are counted in this, whatever is plugged in later. A CD-ROM drive is there, its medium comes. */
export function startedSpec(spec: VmiSpec): VmiSpec {
  const { volumes = [], domain } = spec;
  const names = new Set(volumes.filter((volume) => isHotpluggable(volume) || isDumpVolume(volume)).map(({ name }) => name));
  if (names.size === 0) return spec;
  const disks = domain.devices.disks?.filter(({ name, cdrom }) => cdrom !== undefined || !names.has(name));
  return {
    ...spec,
    volumes: volumes.filter(({ name }) => !names.has(name)),
    domain: { ...domain, devices: { ...domain.devices, ...(disks && { disks }) } },
  };
}

/** The spec of a running instance with these hotplugged volumes in place of its own. */
export function withHotplug(spec: VmiSpec, plugged: readonly HotplugDisk[]): VmiSpec {
  const started = startedSpec(spec);
  const { volumes = [], domain } = started;
  const disks = [...(domain.devices.disks ?? []), ...plugged.flatMap(({ disk }) => (disk.cdrom ? [] : disk))];
  return {
    ...started,
    volumes: [...volumes, ...plugged.map(({ volume }) => volume), ...(spec.volumes ?? []).filter(isDumpVolume)],
    domain: { ...domain, devices: { ...domain.devices, disks } },
  };
}

/** The CD-ROM drive of this name, by its place among the disks that QEMU is started with; undefined where there is none. */
export function driveIndexOf(spec: VmiSpec, name: string): number | undefined {
  const index = (startedSpec(spec).domain.devices.disks ?? []).findIndex((disk) => disk.name === name && disk.cdrom !== undefined);
  return index < 0 ? undefined : index;
}

/** The hotplugged volumes that an instance of a machine has and the machine has not; undefined for an instance that belongs to no machine. */
export function ephemeralVolumesOf(vmi: KubeObject): readonly string[] | undefined {
  if (controllerOf(vmi)?.kind !== 'VirtualMachine') return undefined;
  const names = listIn(vmi.metadata.annotations?.[ANNOTATION_EPHEMERAL_VOLUMES]);
  return names.filter((name) => typeof name === 'string');
}

function listIn(text: string | undefined): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(list) ? list : [];
  } catch {
    return []; // somebody else wrote it
  }
}
