/**
 * What a DELETE does to an object, as a value.
 *
 *   rule                                        outcome
 *   a grace period, not yet over                stays, with deletionTimestamp = now + grace
 *   asked again with a longer or equal grace    nothing
 *   asked again with a shorter one              deletionTimestamp moves forward
 *   finalizers (own, orphan, foreground)        stays, with deletionTimestamp = now
 *   otherwise                                   removed
 */
import { timestamp } from '../../../base/timestamp.ts';
import type { DeleteOptions } from '../request/query.ts';
import type { AnyObject, ResourceType } from '../types/resource-type.ts';

export type Deletion =
  | { readonly outcome: 'remove'; readonly object: AnyObject }
  | { readonly outcome: 'keep'; readonly object: AnyObject }
  | { readonly outcome: 'nothing'; readonly object: AnyObject };

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

export function decideDeletion(type: ResourceType, stored: AnyObject, options: DeleteOptions & { readonly nowMs: number }): Deletion {
  const object = withPropagation(stored, options.propagationPolicy);
  const grace = type.strategy.gracePeriodSeconds?.(object, options.gracePeriodSeconds) ?? 0;
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata;
  const isHeld = finalizers.length > 0 || type.strategy.mayVanish?.(object) === false;
  if (grace === 0 && !isHeld) return { outcome: 'remove', object };
  if (deletionTimestamp !== undefined) {
    if (grace >= deletionGracePeriodSeconds) return { outcome: object === stored ? 'nothing' : 'keep', object };
    const startedMs = Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000;
    return { outcome: 'keep', object: marked(object, startedMs + grace * 1000, grace) };
  }
  const bumped = type.hasGeneration ? withGeneration(object) : object;
  const waiting = marked(bumped, options.nowMs + grace * 1000, grace);
  return { outcome: 'keep', object: type.strategy.prepareDeletion?.(waiting) ?? waiting };
}

/** The finalizers that tell the garbage collector what to do with dependents; no policy leaves them as they are. */
function withPropagation(object: AnyObject, policy: DeleteOptions['propagationPolicy']): AnyObject {
  if (policy === undefined) return object;
  const { finalizers = [], ...metadata } = object.metadata;
  const others = finalizers.filter((finalizer) => finalizer !== ORPHAN && finalizer !== FOREGROUND);
  const wanted = policy === 'Orphan' ? [...others, ORPHAN] : policy === 'Foreground' ? [...others, FOREGROUND] : others;
  if (wanted.length === finalizers.length && wanted.every((finalizer) => finalizers.includes(finalizer))) return object;
  return { ...object, metadata: wanted.length > 0 ? { ...metadata, finalizers: wanted } : metadata };
}

function marked(object: AnyObject, atMs: number, grace: number): AnyObject {
  return { ...object, metadata: { ...object.metadata, deletionTimestamp: timestamp(atMs), deletionGracePeriodSeconds: grace } };
}

function withGeneration(object: AnyObject): AnyObject {
  return { ...object, metadata: { ...object.metadata, generation: (object.metadata.generation ?? 0) + 1 } };
}
