/** Everything that decides about one object: how its owners are, asked of the server when the graph does not show them, and what it owns. */
import { isDeleting, type KubeObject, type OwnerReference } from '../../api/meta.ts';
import { pathOf, type Resource } from '../../api/resource.ts';
import { ApiError } from '../../base/errors.ts';
import type { Client } from '../../client/client.ts';
import { FOREGROUND, hasFinalizer, isLeaving, type ObservedItem, ORPHAN, type OwnerState } from './decide.ts';
import { type Graph, metadataOf } from './graph.ts';

export type ObserveOptions = { readonly graph: Graph; readonly metadata: Client };

/** Undefined when the object is gone, or nothing can follow from it. */
export async function observeItem(id: string, { graph, metadata }: ObserveOptions): Promise<ObservedItem | undefined> {
  const item = graph.get(id);
  if (!item || !isOfInterest(item)) return undefined;
  const uid = item.metadata.uid ?? '';
  if (isDeleting(item)) {
    // Whoever is overlooked here would be deleted once its owner is gone: ask the server instead of the graph.
    const dependents = hasFinalizer(item, ORPHAN) ? await listDependents(item, { graph, metadata }) : graph.dependentsOf(uid);
    const blocking = dependents.filter((dependent) => isBlocking(dependent, uid) && !owns(graph, dependent, uid));
    return { item, owners: [], dependents, blocking };
  }
  const references = item.metadata.ownerReferences ?? [];
  const states = await Promise.all(references.map((reference) => stateOf(reference, item, { graph, metadata })));
  const owners = references.map((reference, index) => ({ reference, state: states[index]! })); // one state per reference
  return { item, owners, dependents: graph.dependentsOf(uid), blocking: [] };
}

/** Only these can have something to be done about them. */
export function isOfInterest(item: KubeObject): boolean {
  if (isDeleting(item)) return hasFinalizer(item, ORPHAN) || hasFinalizer(item, FOREGROUND);
  return (item.metadata.ownerReferences?.length ?? 0) > 0;
}

async function stateOf(reference: OwnerReference, item: KubeObject, { graph, metadata }: ObserveOptions): Promise<OwnerState> {
  const known = graph.byUid(reference.uid);
  if (known) {
    const isWithinReach = known.metadata.namespace === undefined || known.metadata.namespace === item.metadata.namespace;
    if (!isWithinReach) return 'misplaced';
    return isLeaving(known) ? 'leaving' : 'there';
  }
  const resource = graph.resourceOf(reference);
  if (!resource) return 'unknown';
  if (resource.isNamespaced && item.metadata.namespace === undefined) return 'misplaced';
  const owner = await readLive(metadata, resource, { namespace: item.metadata.namespace, name: reference.name });
  if (owner?.metadata.uid !== reference.uid) return 'gone';
  return isLeaving(owner) ? 'leaving' : 'there';
}

/** Undefined only when the server says that this very object is not there; that the kind is not served proves nothing. */
async function readLive(client: Client, resource: Resource, at: { namespace?: string; name: string }): Promise<KubeObject | undefined> {
  try {
    return (await (await client.request(pathOf(resource, at))).json()) as KubeObject;
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'NotFound' && error.details?.name === at.name) return undefined;
    throw error;
  }
}

async function listDependents(owner: KubeObject, { graph, metadata }: ObserveOptions): Promise<KubeObject[]> {
  const { namespace, uid } = owner.metadata;
  const kinds = graph.resources.filter(({ isNamespaced }) => isNamespaced || namespace === undefined);
  const lists = await Promise.all(
    kinds.map(async (resource) => (await metadata.list(resource, { namespace })).items.map((object) => metadataOf(resource, object))),
  );
  return lists.flat().filter((object) => object.metadata.ownerReferences?.some((reference) => reference.uid === uid));
}

function isBlocking(dependent: KubeObject, ownerUid: string): boolean {
  return dependent.metadata.ownerReferences?.some(({ uid, blockOwnerDeletion }) => uid === ownerUid && blockOwnerDeletion) ?? false;
}

/** Does this object, directly or through others, own `uid`? In a circle each would wait for the other for ever. */
function owns(graph: Graph, object: KubeObject, uid: string): boolean {
  const seen = new Set<string>();
  const next = [object.metadata.uid ?? ''];
  for (let current = next.pop(); current !== undefined; current = next.pop()) {
    if (current === uid) return true;
    if (seen.has(current)) continue;
    seen.add(current);
    next.push(...graph.dependentsOf(current).map(({ metadata }) => metadata.uid ?? ''));
  }
  return false;
}
