/** Deletes the object that somebody has looked at, and no other that has its name by now. */
import { type KubeObject, keyOf } from '../api/meta.ts';
import { pathOf, type Resource } from '../api/resource.ts';
import { ApiError, isApiError } from '../base/errors.ts';
import type { Client } from '../client/client.ts';

type Seen = Pick<KubeObject['metadata'], 'namespace' | 'name' | 'uid'>;

/** Succeeds when it is gone already; throws Conflict when there is another one of its name, which stays. Without a uid whatever has the name is deleted. */
export async function deleteExactly(client: Client, resource: Resource, seen: Seen, signal?: AbortSignal): Promise<void> {
  const { uid } = seen;
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'DeleteOptions', ...(uid !== undefined && { preconditions: { uid } }) });
  const init = { method: 'DELETE', headers: { 'content-type': 'application/json' }, body, ...(signal && { signal }) };
  try {
    await (await client.request(pathOf(resource, seen), init)).body?.cancel();
  } catch (error) {
    if (isApiError(error, 'NotFound')) return;
    if (uid === undefined || !isApiError(error, 'Conflict')) throw error;
    const what = `${resource.kind} ${keyOf(seen)}`;
    const why = `the ${what} that you saw is gone, and another one was made under its name since; that one was not deleted`;
    throw new ApiError('Conflict', `Cannot delete: ${why}. Look at it, then delete it again if it is to go as well`, { cause: error });
  }
}
