/** VirtualMachineInstancePreset: what must be true of it beyond its schema. */
import { requiredCause } from '../../base/causes.ts';
import type { StatusCause } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json.ts';

/** Every reason to refuse one. What it gives is judged with the instance that it is given to. */
export function validatePreset({ spec }: JsonObject): StatusCause[] {
  return isObject(spec) && isObject(spec['domain']) ? [] : [requiredCause('spec.domain', 'what instances are given')];
}

export function presetWarnings(): string[] {
  return ['VirtualMachineInstancePreset is deprecated in KubeVirt: use instance types and preferences instead'];
}
