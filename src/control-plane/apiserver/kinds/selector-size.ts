/**
 * Selectors of Services and workloads have a size: controllers, the scheduler and virt-handler hold them against each Pod of the namespace, again and
 * again, while everybody waits. What is stored already may stay.
 */
import { tooManyCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { deepEqual, isObject, type JsonObject } from '../../../base/json.ts';
import { selectorSize } from '../../../base/selectors.ts';
import type { AnyObject, Strategy } from '../types/resource-type.ts';

/** Nobody needs a tenth of it. */
const MOST = 1_000;

/** The same rules, and a bound of `spec.selector`. */
export function withSmallSelector(strategy: Strategy = {}): Strategy {
  return {
    ...strategy,
    validate: (object, old, subresource) => {
      const causes = sizeCauses(object, old);
      // What is too long is not compared with anything.
      return causes.length > 0 ? causes : (strategy.validate?.(object, old, subresource) ?? []);
    },
  };
}

function sizeCauses(object: AnyObject, old: AnyObject | undefined): StatusCause[] {
  const selector = selectorOf(object);
  if (!selector || (old && deepEqual(selector, selectorOf(old)))) return [];
  const size = selectorSize(selector);
  return size > MOST ? [tooManyCause('spec.selector', size, MOST)] : [];
}

function selectorOf({ spec }: AnyObject): JsonObject | undefined {
  const selector = isObject(spec) ? spec['selector'] : undefined;
  return isObject(selector) ? selector : undefined;
}
