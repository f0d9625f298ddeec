/** The cloud-init disk under the name that scripts for KubeVirt know it by: `cloud-init-data/NAMESPACE/NAME/noCloud.iso`. */
import { linkSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { VirtualMachineInstance } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { cloudInitLayoutOf } from '../api/kubevirt/volumes/source-of.ts';
import type { DiskImage } from '../qemu/convert/input.ts';

type Options = { readonly images: ReadonlyMap<string, DiskImage>; readonly folder: string };

/** A second name of the same file; of the first such disk of a layout. What an earlier try has left goes. */
export function linkCloudInit({ metadata, spec }: Pick<VirtualMachineInstance, 'metadata' | 'spec'>, { images, folder }: Options): void {
  rmSync(folder, { recursive: true, force: true });
  const names = [metadata.namespace ?? 'default', metadata.name];
  if (!names.every((name) => /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name) && !name.includes('..'))) return; // no names of objects
  const seen = new Set<string>();
  for (const volume of spec.volumes ?? []) {
    const layout = cloudInitLayoutOf(volume);
    const image = images.get(volume.name);
    if (!layout || !image || seen.has(layout)) continue;
    seen.add(layout);
    const place = join(folder, 'cloud-init-data', ...names);
    mkdirSync(place, { recursive: true });
    linkSync(image.path, join(place, `${layout}.iso`));
  }
}
