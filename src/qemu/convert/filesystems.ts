/** Folders that the guest shares with the host: a card each, behind which a program of ours beside QEMU answers. */
import type { VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import { filesystemSocket } from '../../api/launcher/files.ts';
import { FILESYSTEM_TAG } from './limits.ts';
import type { Part } from './machine-model.ts';
import { matching } from './option-text.ts';
import { card, type RootBus } from './root-bus.ts';

/** What a driver asks of its queue at once; as much as QEMU's default for other cards. */
const QUEUE_SIZE = 1024;

/** The cards, in the order of the list; the guest knows each by its name. */
export function filesystemParts({ domain }: VmiSpec, rootBus: RootBus): Part[] {
  return (domain.devices.filesystems ?? []).flatMap(({ name }, index): Part[] => {
    const [id, chardev] = [`fs${index}`, `fs-socket${index}`];
    const field = `spec.domain.devices.filesystems[${index}].name`;
    const tag = matching(name, { field, pattern: FILESYSTEM_TAG, why: 'a folder has the name of a volume, of at most 36 letters' });
    return [
      { part: 'chardev', id: chardev, socket: filesystemSocket(index), isClient: true },
      ...card(rootBus, id, 'vhost-user-fs-pci', { chardev, tag, 'queue-size': QUEUE_SIZE }),
    ];
  });
}
