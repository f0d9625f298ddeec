/** Labels: their syntax, and those that only our components may set. */
import { forbiddenCause, invalidCause } from '../../base/causes.ts';
import type { StatusCause } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const PREFIX = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
/** Our components find and place instances by these. */
const RESERVED = ['created-by', 'migrationJobUID', 'nodeName', 'migrationTargetNodeName', 'schedulable', 'install-strategy'].map(
  (name) => `kubevirt.io/${name}`,
);

/** Keys and values that no object could carry. */
export function labelCauses(labels: unknown, path: string): StatusCause[] {
  if (labels === undefined || labels === null) return [];
  if (!isObject(labels)) return [invalidCause(path, labels, 'must be a map of texts')];
  return Object.entries(labels).flatMap(([key, value]) => {
    const [name = '', prefix] = key.split('/').reverse();
    const isKey = NAME.test(name) && (prefix === undefined || PREFIX.test(prefix)) && key.split('/').length <= 2;
    const isValue = typeof value === 'string' && (value === '' || NAME.test(value));
    return [
      ...(isKey
        ? []
        : [
            invalidCause(path, key.slice(0, 80), 'a key is a name of at most 63 letters, digits, -, _ and ., with a DNS prefix or without'),
          ]),
      ...(isValue ? [] : [invalidCause(`${path}[${key.slice(0, 80)}]`, value, 'a value has at most 63 letters, digits, -, _ and .')]),
    ];
  });
}

/** Reserved labels that are set or changed, or taken away. */
export function reservedLabelCauses(labels: unknown, oldLabels: unknown, path: string): StatusCause[] {
  const [now, before] = [isObject(labels) ? labels : {}, isObject(oldLabels) ? oldLabels : {}];
  return RESERVED.filter((key) => now[key] !== before[key]).map((key) =>
    forbiddenCause(`${path}[${key}]`, 'this label is set by the components of KubeVirt only'),
  );
}
