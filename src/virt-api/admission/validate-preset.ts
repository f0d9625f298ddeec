/** VirtualMachineInstancePreset: what must be true of it beyond its schema. */
import { requiredCause, tooManyCause } from '../../base/causes.ts';
import type { StatusCause } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import { selectorSize } from '../../base/selectors.ts';
import { MOST_IN_SELECTOR } from './validate-vm.ts';

/** Each is a part of its own, which every new instance of the namespace is held to. */
const MOST_REQUESTS = 64;

/** Every reason to refuse one. What it gives is judged with the instance that it is given to. */
export function validatePreset({ spec }: JsonObject): StatusCause[] {
  const domain = isObject(spec) ? spec['domain'] : undefined;
  if (!isObject(domain)) return [requiredCause('spec.domain', 'what instances are given')];
  const size = isObject(spec) && isObject(spec['selector']) ? selectorSize(spec['selector']) : 0;
  if (size > MOST_IN_SELECTOR) return [tooManyCause('spec.selector', size, MOST_IN_SELECTOR)];
  const requests = isObject(domain['resources']) ? domain['resources']['requests'] : undefined;
  const count = Object.keys(isObject(requests) ? requests : {}).length;
  return count > MOST_REQUESTS ? [tooManyCause('spec.domain.resources.requests', count, MOST_REQUESTS)] : [];
}

export function presetWarnings(): string[] {
  return ['VirtualMachineInstancePreset is deprecated in KubeVirt: use instance types and preferences instead'];
}
