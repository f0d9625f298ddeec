/** Kinds with fields that cannot change once they are set. */
import { invalidCause } from '../../../base/causes.ts';
import { deepEqual, isObject } from '../../../base/json.ts';
import type { AnyObject, Strategy } from '../types/resource-type.ts';

/** Refuses changes of these dotted paths. */
export function immutableFields(...paths: readonly string[]): Strategy {
  return {
    validate: (object, old) =>
      old
        ? paths
            .filter((path) => !deepEqual(at(object, path), at(old, path)))
            .map((path) => invalidCause(path, at(object, path), 'field is immutable'))
        : [],
  };
}

function at(object: AnyObject, path: string): unknown {
  return path.split('.').reduce<unknown>((value, segment) => (isObject(value) ? value[segment] : undefined), object);
}
