/**
 * Threads that serve disks on virtio, so that these do not wait for the main thread of QEMU:
 *
 *   dedicatedIOThread        one for that disk
 *   ioThreadsPolicy shared   one for all the others
 *   ioThreadsPolicy auto     in turns, at most two for each processor
 *   neither                  the main thread; a dedicated disk still has its own, and then the others share one
 */

import { vcpusOf } from '../../api/kubevirt/vmi-size.ts';
import type { Domain } from '../../api/kubevirt/vmi-spec-schema.ts';
import type { Part } from './machine-model.ts';

/** The objects that the disks refer to. */
export function ioThreadParts(domain: Domain): Part[] {
  const names = [...new Set(ioThreadsOf(domain).filter((name) => name !== undefined))];
  return names.map((id) => ({ part: 'object', id, type: 'iothread', properties: {} }));
}

/** The thread of each disk in the list, or undefined for the main thread. */
export function ioThreadsOf(domain: Domain): readonly (string | undefined)[] {
  const { ioThreadsPolicy, devices } = domain;
  const disks = devices.disks ?? [];
  const isUsed = ioThreadsPolicy !== undefined || disks.some(({ dedicatedIOThread }) => dedicatedIOThread);
  const most = ioThreadsPolicy === 'auto' ? 2 * vcpusOf({ domain }) : 1;
  let shared = 0;
  return disks.map(({ disk, dedicatedIOThread }, index) => {
    if (!isUsed || disk?.bus !== 'virtio') return undefined;
    return dedicatedIOThread ? `iothread-disk${index}` : `iothread${shared++ % most}`;
  });
}
