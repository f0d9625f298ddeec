/**
 * Devices that speak virtio as it was before version 1.0, too, for guests that know nothing else. Screens and tablets came with 1.0 and
 * have no such form.
 */
import type { Domain } from '../../api/kubevirt/vmi-spec-schema.ts';
import type { Part } from './machine-model.ts';

const OLDER_THAN_VIRTIO_1: ReadonlySet<string> = new Set([
  'virtio-balloon-pci',
  'virtio-blk-pci',
  'virtio-net-pci',
  'virtio-rng-pci',
  'virtio-scsi-pci',
  'virtio-serial-pci',
]);

/** The same parts; where the machine asks for it, with devices that are of both kinds. */
export function transitional({ useVirtioTransitional }: Domain['devices'], parts: readonly Part[]): readonly Part[] {
  if (!useVirtioTransitional) return parts;
  return parts.map((part) =>
    part.part === 'device' && OLDER_THAN_VIRTIO_1.has(part.driver) ? { ...part, driver: `${part.driver}-transitional` } : part,
  );
}
