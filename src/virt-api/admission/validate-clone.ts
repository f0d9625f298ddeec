/** VirtualMachineClone: what must be true of it beyond its schema. */
import { VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { VM_SNAPSHOTS } from '../../api/kubevirt/kinds/vm-snapshot.ts';
import { invalidCause, requiredCause, tooManyCause, unsupportedCause } from '../../base/causes.ts';
import { subdomainCauses } from '../../base/dns-name-causes.ts';
import type { StatusCause } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json.ts';

const GROUPS: Readonly<Record<string, string>> = { [VMS.kind]: VMS.group, [VM_SNAPSHOTS.kind]: VM_SNAPSHOTS.group };
/** Keys of labels and annotations, and what stands for a part of one. */
const FILTER = /^!?(?:[\w./-]|\\\.|\*)+$/;
/** Each is held against each label of a machine. */
const MOST_FILTERS = 256;
/** A key has 317 characters at most. */
const LONGEST_FILTER = 500;
const MAC = /^(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}$/;

/** Every reason to refuse a clone. */
export function validateClone({ spec }: JsonObject): StatusCause[] {
  if (!isObject(spec)) return [requiredCause('spec.source', 'the machine that is to be there twice')];
  const { source, target, template, newMacAddresses } = spec;
  const inner = isObject(template) ? template : {};
  return [
    ...referenceCauses(source, 'spec.source', [VMS.kind, VM_SNAPSHOTS.kind]),
    ...(target === undefined ? [] : referenceCauses(target, 'spec.target', [VMS.kind])),
    ...(['labelFilters', 'annotationFilters'] as const).flatMap((field) => [
      ...filterCauses(spec[field], `spec.${field}`),
      ...filterCauses(inner[field], `spec.template.${field}`),
    ]),
    ...macCauses(newMacAddresses),
    ...(isObject(source) && isObject(target) && source['kind'] === VMS.kind && source['name'] === target['name']
      ? [invalidCause('spec.target.name', target['name'], 'must not be the name of the source')]
      : []),
  ];
}

function referenceCauses(said: unknown, at: string, kinds: readonly string[]): StatusCause[] {
  if (!isObject(said)) return [requiredCause(at, 'a machine')];
  const { apiGroup, kind, name } = said;
  if (typeof kind !== 'string' || !kinds.includes(kind)) return [unsupportedCause(`${at}.kind`, kind, kinds)];
  const group = GROUPS[kind];
  return [
    ...(apiGroup === undefined || apiGroup === group ? [] : [unsupportedCause(`${at}.apiGroup`, apiGroup, [group])]),
    ...(typeof name === 'string' && name ? subdomainCauses(`${at}.name`, name) : [requiredCause(`${at}.name`, 'its name')]),
  ];
}

function filterCauses(filters: unknown, at: string): StatusCause[] {
  if (!Array.isArray(filters)) return [];
  if (filters.length > MOST_FILTERS) return [tooManyCause(at, filters.length, MOST_FILTERS)];
  const why = 'must be a key in which * stands for any text, with a leading ! to take away';
  return filters.flatMap((filter, index) => (isFilter(filter) ? [] : [invalidCause(`${at}[${index}]`, filter, why)]));
}

function isFilter(filter: unknown): boolean {
  return typeof filter === 'string' && filter.length <= LONGEST_FILTER && FILTER.test(filter);
}

function macCauses(addresses: unknown): StatusCause[] {
  if (!isObject(addresses)) return [];
  return Object.entries(addresses).flatMap(([name, address]) =>
    MAC.test(String(address))
      ? []
      : [invalidCause(`spec.newMacAddresses[${name}]`, address, 'must be an address such as 02:00:00:12:34:56')],
  );
}
