/** What is to be written of a Pod's status, when it differs from what the API has. Pure. */
import type { Pod, PodStatus } from '../../api/core/pod.ts';
import { deepEqual, diffAsMergePatch, isObject } from '../../base/json.ts';

/** The merge patch that makes the status say this; undefined when it does already. */
export function statusPatch({ status = {} }: Pod, wanted: PodStatus): object | undefined {
  const current = ownPart(status, wanted);
  if (deepEqual(withoutEmpty(current), withoutEmpty(wanted))) return undefined;
  const patch = diffAsMergePatch(current, wanted);
  return isObject(patch) ? patch : undefined;
}

/** The fields that we speak about; others may have more to say in the same status. */
function ownPart(status: PodStatus, wanted: PodStatus): PodStatus {
  return Object.fromEntries(Object.entries(status).filter(([key]) => key in wanted));
}

/** A server may leave out or add what is empty; that is no difference. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (!isObject(value)) return value === null ? undefined : value;
  const entries = Object.entries(value).map(([key, each]) => [key, withoutEmpty(each)] as const);
  const full = entries.filter(([, each]) => each !== undefined);
  return full.length === 0 ? undefined : Object.fromEntries(full);
}
