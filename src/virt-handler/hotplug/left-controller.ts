/**
 * The controller of hotplugged disks on SCSI stays in a machine when the last of them has left, until the machine ends. A QEMU that is started to take the
 * memory of this one does not have it, and would refuse the memory. Pure.
 */
import { HOTPLUG_CONTROLLER } from '../../qemu/convert/plugged-disk.ts';
import type { Domain } from '../vmi/domain.ts';

/** Why no other QEMU takes this guest; undefined when one does, as far as this goes. */
export function whyOnlyHere({ plugged }: Pick<Domain, 'plugged'>): string | undefined {
  return plugged && HOTPLUG_CONTROLLER in plugged.devices
    ? 'the machine has the controller of disks on bus scsi that were hotplugged, which no machine has from its start; restart it first'
    : undefined;
}
