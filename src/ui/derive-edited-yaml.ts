/** An object as people edit it, and what becomes of their changes when others were quicker. Pure. */
import type { KubeObject } from '../api/meta.ts';
import { diffAsMergePatch, isObject, mergePatch } from '../base/json.ts';

/** Without what only programs read. */
export function shownObject<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** What was typed, where it is an object of this name; why not otherwise. */
export function editedObject(parsed: unknown, { kind, metadata }: KubeObject): { readonly object: KubeObject } | { readonly why: string } {
  if (!isObject(parsed) || !isObject(parsed['metadata'])) return { why: 'it has to be an object with metadata' };
  if (parsed['kind'] !== kind) return { why: `kind has to stay ${kind}` };
  if (parsed['metadata']['name'] !== metadata.name || parsed['metadata']['namespace'] !== metadata.namespace)
    return { why: `name and namespace have to stay ${metadata.namespace}/${metadata.name}: another one is made under Create` };
  return { object: parsed as unknown as KubeObject };
}

/** Whether people or programs have changed what was asked for; what the components say about it changes all the time. */
export function isChangedByOthers(base: KubeObject, now: KubeObject): boolean {
  return diffAsMergePatch(withoutVersion(base), withoutVersion(now)) !== undefined;
}

/** The changes from `base` to `mine`, made to what others have written since. Where both changed a field, ours holds. */
export function onto(theirs: KubeObject, { base, mine }: { readonly base: KubeObject; readonly mine: KubeObject }): KubeObject {
  const patch = diffAsMergePatch(withoutVersion(base), withoutVersion(mine));
  return patch === undefined ? theirs : (mergePatch(theirs, patch) as KubeObject); // a patch between two objects of this kind
}

/** The version is theirs: that is what the server compares. What the components write is theirs, too. */
function withoutVersion({ metadata, status: _, ...rest }: KubeObject & { readonly status?: unknown }): object {
  const { resourceVersion: __, generation: ___, managedFields: ____, ...own } = metadata;
  return { ...rest, metadata: own };
}
