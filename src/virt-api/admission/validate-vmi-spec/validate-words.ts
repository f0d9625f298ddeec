/** Fields that take one of a few words. The schema says so as well where it has the field; these are the words of the published API. */
import { unsupportedCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { isObject } from '../../../base/json.ts';
import type { CheckedSpec } from './checked-spec.ts';

const BUSES = ['virtio', 'sata', 'scsi', 'usb'];
/** `[]` stands for every item of a list. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  startStrategy: ['Paused'],
  evictionStrategy: ['None', 'LiveMigrate', 'LiveMigrateIfPossible', 'External'],
  dnsPolicy: ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'],
  'domain.ioThreadsPolicy': ['shared', 'auto', 'supplementalPool'],
  'domain.devices.disks[].disk.bus': BUSES,
  'domain.devices.disks[].lun.bus': BUSES,
  'domain.devices.disks[].cdrom.bus': ['sata', 'scsi', 'usb', 'virtio'], // virtio has a rule of its own that says what to use instead
  'domain.devices.disks[].cache': ['none', 'writethrough', 'writeback'],
  'domain.devices.disks[].io': ['native', 'threads'],
  'domain.devices.disks[].errorPolicy': ['stop', 'ignore', 'report', 'enospace'],
  'domain.devices.interfaces[].model': ['virtio', 'e1000', 'e1000e', 'igb', 'ne2k_pci', 'pcnet', 'rtl8139'],
  'domain.devices.interfaces[].state': ['up', 'down', 'absent'],
};

export function validateWords(spec: CheckedSpec, path: string): StatusCause[] {
  return Object.entries(WORDS).flatMap(([pattern, words]) =>
    valuesAt(spec, pattern.split('.'), path)
      .filter(({ value }) => value !== undefined && value !== '' && !words.includes(String(value)))
      .map(({ field, value }) => unsupportedCause(field, value, words)),
  );
}

function valuesAt(value: unknown, [step, ...rest]: readonly string[], field: string): { field: string; value: unknown }[] {
  if (step === undefined) return [{ field, value }];
  if (!isObject(value)) return [];
  const name = step.replace('[]', '');
  const child = value[name];
  if (!step.endsWith('[]')) return valuesAt(child, rest, `${field}.${name}`);
  return Array.isArray(child) ? child.flatMap((item, index) => valuesAt(item, rest, `${field}.${name}[${index}]`)) : [];
}
