/** Whether the parts of a VM that are walked before its schema was checked have the shape that the schema is going to ask for. */
import { CHOICE_NAMES } from '../../api/kubevirt/instancetype/choices-table.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { isObject, type JsonObject } from '../../base/json.ts';

export function isVmShaped(object: JsonObject): object is JsonObject & VirtualMachine {
  const spec = at(object, 'spec');
  const template = at(spec, 'template');
  const inner = at(template, 'spec');
  const domain = at(inner, 'domain');
  const devices = at(domain, 'devices');
  if (!spec || !template || !inner || !domain || !devices) return false;
  const lists = [inner['volumes'], inner['networks'], devices['disks'], devices['interfaces'], devices['inputs']];
  const objects = [
    template['metadata'],
    ...['cpu', 'memory', 'resources', 'firmware', 'clock', 'features', 'machine'].map((each) => domain[each]),
  ];
  return (
    lists.every((list) => list === undefined || (Array.isArray(list) && list.every(isObject))) &&
    [...objects, ...CHOICE_NAMES.map((choice) => spec[choice])].every((each) => each === undefined || isObject(each))
  );
}

function at(object: JsonObject | undefined, name: string): JsonObject | undefined {
  const value = object?.[name];
  return isObject(value) ? value : undefined;
}
