/** Old spellings become today's, so that everything after this knows only one. What a user wrote stays as written in the stored object. */
import type { Disk, VmiSpec, Volume } from '../../api/kubevirt/vmi-spec-schema.ts';

/** The spec with `registryDisk` as `containerDisk`, and every disk under the name of its volume instead of a `volumeName`. */
export function normaliseSpec(spec: VmiSpec): VmiSpec {
  const { devices } = spec.domain;
  return {
    ...spec,
    ...(spec.volumes && { volumes: spec.volumes.map(withContainerDisk) }),
    domain: { ...spec.domain, devices: { ...devices, ...(devices.disks && { disks: devices.disks.map(underVolumeName) }) } },
  };
}

function withContainerDisk({ registryDisk, ...volume }: Volume): Volume {
  return registryDisk && !volume.containerDisk ? { ...volume, containerDisk: registryDisk } : volume;
}

function underVolumeName({ volumeName, ...disk }: Disk): Disk {
  return volumeName ? { ...disk, name: volumeName } : disk;
}
