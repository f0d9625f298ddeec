/** The block nodes of one image. Every format is stated and every backing file is ours, whatever a header says. */
import type { DiskImage, ImageFile } from './input.ts';

type Node = Readonly<Record<string, unknown>>;
type Cache = 'none' | 'writethrough' | 'writeback' | undefined;

/** The value of `-blockdev` for an image: format over file, and the read-only base beneath an overlay. */
export function blockNode(options: { node: string; image: DiskImage; isReadOnly: boolean; cache: Cache }): Node {
  const { node, image, isReadOnly, cache } = options;
  return {
    ...layer({
      node,
      image,
      isReadOnly,
      caching: { direct: cache === 'none', 'no-flush': cache === undefined && image.isEphemeral === true },
    }),
    ...(image.base && { backing: baseLayer(`${node}-base`, image.base) }),
  };
}

function baseLayer(node: string, image: ImageFile): Node {
  return layer({ node, image, isReadOnly: true, caching: { direct: false, 'no-flush': false } });
}

function layer(options: { node: string; image: ImageFile; isReadOnly: boolean; caching: Node }): Node {
  const { node, image, isReadOnly, caching } = options;
  const shared = { 'read-only': isReadOnly, discard: 'unmap', cache: caching };
  return {
    driver: image.format,
    'node-name': node,
    ...shared,
    file: { driver: 'file', 'node-name': `${node}-file`, filename: image.path, ...shared },
    // Without this QEMU would open whatever file a qcow2 header names.
    ...(image.format === 'qcow2' && { backing: null }),
  };
}
