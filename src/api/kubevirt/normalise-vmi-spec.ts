/**
 * Old spellings of a VMI spec in today's words. Applied when an instance is made, never to what a user stored:
 *   registryDisk          -> containerDisk
 *   disks[].volumeName    -> the disk takes the name of its volume, which is how disks and volumes find each other
 *   a volume without disk -> gets a disk, unless it is shared as a folder, or the memory is dumped to it
 */
import { DEFAULT_HOTPLUG_BUS } from './hotplug.ts';
import type { Disk, VmiSpec, Volume } from './vmi-spec-schema.ts';
import { isDumpVolume } from './volumes/dump-volume.ts';
import { isHotpluggable } from './volumes/source-of.ts';

/** The same machine, in today's words. */
export function normaliseVmiSpec(spec: VmiSpec): VmiSpec {
  const volumes = spec.volumes?.map(normaliseVolume);
  const shared = new Set((spec.domain.devices.filesystems ?? []).map(({ name }) => name));
  const shown = (volumes ?? []).filter((volume) => !shared.has(volume.name) && !isDumpVolume(volume));
  const disks = withDiskPerVolume((spec.domain.devices.disks ?? []).map(normaliseDisk), shown);
  const devices = disks.length > 0 ? { ...spec.domain.devices, disks } : spec.domain.devices;
  return { ...spec, ...(volumes && { volumes }), domain: { ...spec.domain, devices } };
}

function normaliseVolume({ registryDisk, ...volume }: Volume): Volume {
  return registryDisk ? { ...volume, containerDisk: volume.containerDisk ?? registryDisk } : volume;
}

// No two disks show one volume, so the new names are as different from each other as the volumes are.
function normaliseDisk({ volumeName, ...disk }: Disk): Disk {
  return volumeName ? { ...disk, name: volumeName } : disk;
}

function withDiskPerVolume(disks: readonly Disk[], volumes: readonly Volume[]): Disk[] {
  const shown = new Set(disks.map(({ name }) => name));
  return [...disks, ...volumes.filter(({ name }) => !shown.has(name)).map(diskFor)];
}

/** What is plugged in while a guest runs needs a bus that takes it. */
function diskFor(volume: Volume): Disk {
  return { name: volume.name, disk: isHotpluggable(volume) ? { bus: DEFAULT_HOTPLUG_BUS } : {} };
}
