/** The block nodes of one image. Every format is stated and every backing file is ours, whatever a header says. */
import type { Disk } from '../../api/kubevirt/vmi-spec-schema.ts';
import type { DiskImage, ImageFile } from './input.ts';

type Options = Readonly<Record<string, unknown>>;
type Node = Options & { readonly driver: string; readonly 'node-name': string };

/** The node of an image: format over file, and the read-only base beneath an overlay. */
export function blockNode(options: {
  node: string;
  image: DiskImage;
  isReadOnly: boolean;
  disk: Pick<Disk, 'cache' | 'io' | 'shareable'>;
}): Node {
  const { node, image, isReadOnly, disk } = options;
  const { cache, io, shareable: isShared } = disk;
  return {
    ...layer({
      node,
      image,
      isReadOnly,
      // The asynchronous calls of Linux need a file that is opened without the host's cache; and what another node wrote is not in that of this one.
      caching: {
        direct: cache === 'none' || io === 'native' || isShared === true,
        'no-flush': cache === undefined && image.isEphemeral === true,
      },
      ...(io && { aio: io }),
    }),
    ...(image.base && { backing: baseLayer(`${node}-base`, image.base) }),
  };
}

function baseLayer(node: string, image: ImageFile): Node {
  return layer({ node, image, isReadOnly: true, caching: { direct: false, 'no-flush': false } });
}

function layer(options: { node: string; image: ImageFile; isReadOnly: boolean; caching: Options; aio?: 'native' | 'threads' }): Node {
  const { node, image, isReadOnly, caching, aio } = options;
  const shared = { 'read-only': isReadOnly, discard: 'unmap', cache: caching };
  const driver = image.isDevice ? 'host_device' : 'file';
  return {
    driver: image.format,
    'node-name': node,
    ...shared,
    file: { driver, 'node-name': `${node}-file`, filename: image.path, ...shared, ...(aio && { aio }) },
    // Without this QEMU would open whatever file a qcow2 header names.
    ...(image.format === 'qcow2' && { backing: null }),
  };
}
