/** Which disks of an instance exist on its node alone, so that they are copied when it is moved: by the names of their block nodes. Pure. */
import { startedSpec } from '../../api/kubevirt/hotplug.ts';
import { normaliseVmiSpec } from '../../api/kubevirt/normalise-vmi-spec.ts';
import type { VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import { isReadOnlyDisk } from './disks.ts';
import { imageNode } from './input.ts';

/** What the guest has written to these is nowhere else. What it cannot write to is made anew from the same source. */
export function copiedDisksOf(spec: VmiSpec): string[] {
  const { volumes = [], domain } = startedSpec(normaliseVmiSpec(spec));
  return (domain.devices.disks ?? []).flatMap((disk, index) => {
    const volume = volumes.find(({ name }) => name === disk.name);
    const isOwn = volume && (volume.containerDisk ?? volume.emptyDisk ?? volume.ephemeral) !== undefined;
    return isOwn && !isReadOnlyDisk(disk) ? [imageNode(index)] : [];
  });
}
