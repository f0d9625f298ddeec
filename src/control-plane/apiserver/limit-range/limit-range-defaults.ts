/** LimitRanges: a limit that may not be exceeded is the default limit, which is the default request; without one the least is. */
import type { LimitRange, LimitRangeItem, Quantities } from '../../../api/core/resource-quota.ts';
import { duplicateCause, forbiddenCause, invalidCause, unsupportedCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { parseQuantity } from '../../../base/quantity.ts';
import type { AnyObject, Strategy } from '../types/resource-type.ts';

const TYPES = ['Container', 'Pod', 'PersistentVolumeClaim'];

export const limitRangeStrategy: Strategy = {
  prepareCreate: (object) => withDefaults(object),
  prepareUpdate: (object) => withDefaults(object),
  validate: (object) => limitsIn(object).flatMap((item, index, all) => causesOf(item, index, all)),
};

function limitsIn(object: AnyObject): readonly LimitRangeItem[] {
  return (object as unknown as LimitRange).spec?.limits ?? []; // only LimitRanges come here, and the schema has checked their shape
}

function withDefaults(object: AnyObject): AnyObject {
  const limits = limitsIn(object).map((item) => {
    if (item.type !== 'Container') return item;
    const most = { ...item.max, ...item.default };
    const request = { ...item.min, ...most, ...item.defaultRequest };
    return { ...item, ...given('default', most), ...given('defaultRequest', request) };
  });
  return limits.length === 0 ? object : { ...object, spec: { ...(object['spec'] as object), limits } };
}

function given(name: string, quantities: Quantities): object {
  return Object.keys(quantities).length > 0 ? { [name]: quantities } : {};
}

/** least <= default request <= default limit <= most, and each type once. */
function causesOf(item: LimitRangeItem, index: number, all: readonly LimitRangeItem[]): StatusCause[] {
  const at = `spec.limits[${index}]`;
  if (!TYPES.includes(item.type)) return [unsupportedCause(`${at}.type`, item.type, TYPES)];
  const isAgain = all.findIndex(({ type }) => type === item.type) !== index;
  const ofPod = item.type === 'Pod' ? (['default', 'defaultRequest'] as const).filter((name) => item[name]) : [];
  return [
    ...(isAgain ? [duplicateCause(`${at}.type`, item.type)] : []),
    ...ofPod.map((name) => forbiddenCause(`${at}.${name}`, 'may not be specified when `type` is "Pod"')),
    ...orderCauses(item, at),
  ];
}

const ORDERED = [
  ['min', 'min', 'max', 'max'],
  ['defaultRequest', 'default request', 'max', 'max'],
  ['default', 'default', 'max', 'max'],
  ['min', 'min', 'defaultRequest', 'default request'],
  ['min', 'min', 'default', 'default'],
  ['defaultRequest', 'default request', 'default', 'default limit'],
] as const;

function orderCauses(item: LimitRangeItem, at: string): StatusCause[] {
  return ORDERED.flatMap(([lower, lowerWord, upper, upperWord]) =>
    Object.entries(item[lower] ?? {}).flatMap(([resource, text]) => {
      const bound = item[upper]?.[resource];
      if (bound === undefined || numberOf(text) <= numberOf(bound)) return [];
      const why = `${lowerWord} value ${text} is greater than ${upperWord} value ${bound}`;
      return [invalidCause(`${at}.${lower}[${resource}]`, String(text), why)];
    }),
  );
}

function numberOf(quantity: string): number {
  return parseQuantity(quantity) ?? 0;
}
