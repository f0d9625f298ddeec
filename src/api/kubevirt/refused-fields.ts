/**
 * Published fields that are not honoured here, refused by name: dropping one in silence would give a machine that is not what was asked for.
 * The table follows from the schemas and the published types (`npm run generate`); docs/compatibility.md says for each what is planned.
 */
import { forbiddenCause } from '../../base/causes.ts';
import type { StatusCause } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import { REFUSED_FIELDS } from './generated/refused-fields-table.ts';

/**
 * A field that is refused, or fields inside it that are. Lists are transparent: the rule holds for every item.
 *   set     refused unless it says nothing: null, "", [] and false
 *   struct  as set, and {} says nothing either
 *   any     refused even when false, because false is not what happens here
 */
export type RefusedFields = { readonly [field: string]: 'set' | 'struct' | 'any' | RefusedFields };

const TEMPLATE: RefusedFields = { spec: REFUSED_FIELDS.VirtualMachineInstanceSpec };
const BY_KIND: ReadonlyMap<string, RefusedFields> = new Map<string, RefusedFields>([
  ['VirtualMachine', { spec: { ...REFUSED_FIELDS.VirtualMachineSpec, template: TEMPLATE } }],
  ['VirtualMachineInstance', TEMPLATE],
  ['VirtualMachineInstanceReplicaSet', { spec: { template: TEMPLATE } }],
  ['OfflineVirtualMachine', { spec: { template: TEMPLATE } }],
  ['VirtualMachineInstanceConfig', { spec: { template: TEMPLATE } }],
  ['KubeVirt', { spec: REFUSED_FIELDS.KubeVirtSpec }],
]);

/** A cause for every field of the object that KubeVirt has and we do not honour. Other unknown fields are the API server's to judge. */
export function refusedFields(kind: string, object: JsonObject): StatusCause[] {
  const rules = BY_KIND.get(kind);
  return rules ? causesIn(object, rules, '') : [];
}

function causesIn(object: JsonObject, rules: RefusedFields, prefix: string): StatusCause[] {
  return Object.entries(rules).flatMap(([name, rule]) => {
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    const field = `${prefix}${name}`;
    if (typeof rule === 'string') return saysSomething(value, rule) ? [causeFor(field)] : [];
    if (Array.isArray(value)) return value.flatMap((item, at) => (isObject(item) ? causesIn(item, rule, `${field}[${at}].`) : []));
    return isObject(value) ? causesIn(value, rule, `${field}.`) : [];
  });
}

function saysSomething(value: unknown, rule: 'set' | 'struct' | 'any'): boolean {
  if (value === undefined || value === null || value === '') return false;
  if (value === false) return rule === 'any';
  if (Array.isArray(value)) return value.length > 0;
  return !(rule === 'struct' && isObject(value) && Object.keys(value).length === 0);
}

function causeFor(field: string): StatusCause {
  return forbiddenCause(field, 'this field of KubeVirt is not supported here yet, and leaving it out in silence could surprise you');
}
