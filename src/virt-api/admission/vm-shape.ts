/** Whether the parts of a machine that are walked before its schema was checked have the shape that the schema is going to ask for. */
import { CHOICE_NAMES } from '../../api/kubevirt/instancetype/choices-table.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import { isObject, type JsonObject } from '../../base/json.ts';

/** A spec whose lists are lists of objects. */
export type ShapedVmiSpec = VmiSpec & {
  readonly volumes?: readonly JsonObject[];
  readonly networks?: readonly JsonObject[];
  readonly domain: JsonObject & {
    readonly devices: JsonObject & { readonly disks?: readonly JsonObject[]; readonly interfaces?: readonly JsonObject[] };
  };
};

const DOMAIN_OBJECTS = ['cpu', 'memory', 'resources', 'firmware', 'clock', 'features', 'machine'];

export function isVmShaped(object: JsonObject): object is JsonObject & VirtualMachine {
  const spec = at(object, 'spec');
  const template = at(spec, 'template');
  const inner = at(template, 'spec');
  if (!spec || !template || !inner || !isVmiSpecShaped(inner)) return false;
  const { domain } = inner;
  const objects = [template['metadata'], ...DOMAIN_OBJECTS.map((each) => domain[each]), ...CHOICE_NAMES.map((choice) => spec[choice])];
  return areLists(domain.devices['inputs']) && objects.every((each) => each === undefined || isObject(each));
}

/** For an instance, of which every other part is looked at where it is filled in. */
export function isVmiSpecShaped(spec: JsonObject): spec is JsonObject & ShapedVmiSpec {
  const devices = at(at(spec, 'domain'), 'devices');
  return (
    devices !== undefined && areLists(spec['volumes'], spec['networks'], devices['disks'], devices['interfaces'], devices['filesystems'])
  );
}

function areLists(...values: readonly unknown[]): boolean {
  return values.every((list) => list === undefined || (Array.isArray(list) && list.every(isObject)));
}

function at(object: JsonObject | undefined, name: string): JsonObject | undefined {
  const value = object?.[name];
  return isObject(value) ? value : undefined;
}
