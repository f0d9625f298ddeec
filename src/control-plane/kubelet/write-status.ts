/** Writes a Pod's status when it differs from what the API has; never over a change that we have not seen. */
import { PODS, type Pod, type PodStatus } from '../../api/core/pod.ts';
import { isApiError } from '../../base/errors.ts';
import { deepEqual, diffAsMergePatch, isObject } from '../../base/json.ts';
import type { Client } from '../../client/client.ts';

const TRIES = 5;

/** Returns the Pod as it is afterwards; undefined when the API no longer has this very Pod. */
export async function writePodStatus(client: Client, seen: Pod, derive: (pod: Pod) => PodStatus): Promise<Pod | undefined> {
  let pod = seen;
  for (let tries = 1; ; tries++) {
    const { uid, resourceVersion } = pod.metadata;
    const wanted = derive(pod);
    const current = ownPart(pod.status ?? {}, wanted);
    if (deepEqual(withoutEmpty(current), withoutEmpty(wanted))) return pod;
    try {
      // The list of conditions is replaced as a whole, so it must be built from the very version that it replaces.
      const patch = { metadata: { uid, resourceVersion }, status: diffAsMergePatch(current, wanted) };
      return await client.patch(PODS, pod.metadata, patch, { subresource: 'status' });
    } catch (error) {
      if (isApiError(error, 'NotFound')) return undefined;
      if (!isApiError(error, 'Conflict') || tries >= TRIES) throw error;
    }
    const latest = await client.get(PODS, seen.metadata);
    if (!latest || latest.metadata.uid !== uid) return undefined;
    pod = latest;
  }
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
