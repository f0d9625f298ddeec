/** Finding what an owner controls, and making sure of the owner before it takes something over (the rule: decide-owner.ts). */
import { controllerOf, isDeleting, type KubeObject, keyOf } from '../api/meta.ts';
import type { Resource } from '../api/resource.ts';
import type { Client } from '../client/client.ts';

/** The index of a cache that finds objects by the uid of what controls them. */
export const BY_CONTROLLER = 'controller';
export const byController = { [BY_CONTROLLER]: (object: KubeObject) => [controllerOf(object)?.uid ?? ''] };

/** For a trigger: the key of the owner, when the object is controlled by one of this kind. */
export function ownerKeysOf(kind: string): (object: KubeObject) => string[] {
  return (object) => {
    const owner = controllerOf(object);
    return owner?.kind === kind ? [keyOf({ namespace: object.metadata.namespace, name: owner.name })] : [];
  };
}

type Pair = { readonly client: Client; readonly resource: Resource; readonly owner: KubeObject; readonly object: KubeObject };

/** Our copy of the owner may be that of a predecessor, so adoption is decided on a fresh one. */
export async function mayAdopt({ client, resource, owner, object }: Pair): Promise<boolean> {
  if (controllerOf(object) || isDeleting(owner) || isDeleting(object)) return false;
  const fresh = await client.get(resource, owner.metadata);
  return fresh !== undefined && fresh.metadata.uid === owner.metadata.uid && !isDeleting(fresh);
}
