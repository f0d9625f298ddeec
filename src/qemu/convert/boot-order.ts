/** What the firmware tries first: without any bootOrder the disks in the order of the list; with one, only the devices that have it. */
import type { Disk, Interface } from '../../api/kubevirt/vmi-spec-schema.ts';
import { specError } from './option-text.ts';

/** The boot index of each disk, or undefined for one that is not to be booted from. Cards have theirs as it is written. */
export function bootIndexes(disks: readonly Disk[], cards: readonly Interface[]): readonly (number | undefined)[] {
  const given = [...disks, ...cards].map(({ bootOrder }) => bootOrder).filter((order) => order !== undefined);
  if (given.length === 0) return disks.map((_, index) => index + 1);
  const twice = given.find((order, index) => given.indexOf(order) !== index);
  if (twice !== undefined) throw specError('BOOT_ORDER_INVALID', 'spec.domain.devices', `two devices have bootOrder ${twice}`);
  return disks.map(({ bootOrder }) => bootOrder);
}
