/** The metadata the server owns: identity and time stamps of a new object, and what an update may not touch. */
import { timestamp } from '../../../base/timestamp.ts';
import type { AnyObject, ResourceType } from '../types/resource-type.ts';

/** Letters and digits that make no words and are not mistaken for each other. */
const NAME_LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
const MAX_GENERATED_PREFIX = 58;

/** A name for `generateName`; the prefix is shortened so that the whole fits a label. */
export function generatedName(prefix: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SUFFIX_LENGTH));
  const suffix = [...bytes].map((byte) => NAME_LETTERS[byte % NAME_LETTERS.length]).join('');
  return prefix.slice(0, MAX_GENERATED_PREFIX) + suffix;
}

/** A new object with an identity of its own; whatever the client said about that is dropped. */
export function withNewIdentity(
  type: ResourceType,
  object: AnyObject,
  options: { namespace: string | undefined; name: string; nowMs: number },
): AnyObject {
  const { labels, annotations, ownerReferences, finalizers, generateName } = object.metadata;
  const metadata = {
    name: options.name,
    ...(generateName && { generateName }),
    ...(options.namespace !== undefined && { namespace: options.namespace }),
    uid: crypto.randomUUID(),
    ...(type.hasGeneration && { generation: 1 }),
    creationTimestamp: timestamp(options.nowMs),
    ...(labels && Object.keys(labels).length > 0 && { labels }),
    ...(annotations && Object.keys(annotations).length > 0 && { annotations }),
    ...(ownerReferences && ownerReferences.length > 0 && { ownerReferences }),
    ...(finalizers && finalizers.length > 0 && { finalizers }),
  };
  return { ...object, metadata };
}

/** The new object with those metadata fields that only the server changes taken from the stored one. */
export function withOldIdentity(object: AnyObject, old: AnyObject): AnyObject {
  const { labels, annotations, ownerReferences, finalizers } = object.metadata;
  const {
    name,
    generateName,
    namespace,
    uid,
    generation,
    creationTimestamp,
    deletionTimestamp,
    deletionGracePeriodSeconds,
    resourceVersion,
  } = old.metadata;
  const metadata = withoutEmpty({
    name,
    generateName,
    namespace,
    uid,
    resourceVersion,
    generation,
    creationTimestamp,
    deletionTimestamp,
    deletionGracePeriodSeconds,
    labels,
    annotations,
    ownerReferences,
    finalizers,
  });
  return { ...object, metadata };
}

/** Whether anything counts as a change of what is wanted: all but metadata, and but status where that is a subresource. */
export function desiredPartOf(type: ResourceType, object: AnyObject): object {
  const { metadata, status, ...rest } = object;
  if (type.strategy.annotationsAreDesired) return { ...rest, annotations: metadata.annotations };
  return type.isBuiltIn || type.subresources.includes('status') ? rest : { ...rest, status };
}

/** Absent, not empty: the way typed servers write metadata, so that equal objects look equal. */
function withoutEmpty(metadata: AnyObject['metadata']): AnyObject['metadata'] {
  const isEmpty = (value: unknown) =>
    value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => !isEmpty(value))) as AnyObject['metadata']; // only optional fields can be empty
}
