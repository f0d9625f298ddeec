/**
 * Whose an object is: the rule that all controllers share for objects they find by name or by label.
 *
 *   the object                                 is
 *   has us as its controller                   ours
 *   has another controller                     not ours, and not ours to touch
 *   has none, fits, nobody is being deleted    ours as soon as we say so: adopt
 *   is ours and no longer fits                 let go: release
 *
 * Pure.
 */
import { controllerOf, controllerReferenceTo, isControlledBy, type KubeObject, refOf } from '../api/meta.ts';
import type { Action } from './decision.ts';

/** Makes the owner the controller of the object, on condition that nobody else did so meanwhile; `also` is more metadata to change. */
export function adopt(owner: KubeObject, object: KubeObject, also: object = {}): Action {
  const others = (object.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.metadata.uid);
  const metadata = { ownerReferences: [...others, controllerReferenceTo(owner)], ...also };
  return ownerPatch(object, metadata, `${owner.kind} ${owner.metadata.name} adopts it`);
}

/** Takes the owner off an object that no longer fits it. */
export function release(owner: KubeObject, object: KubeObject): Action {
  const ownerReferences = (object.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.metadata.uid);
  return ownerPatch(object, { ownerReferences }, `it no longer fits ${owner.kind} ${owner.metadata.name}`);
}

/** Why the owner cannot have the object of this name; undefined when it has it. */
export function whyNotOurs(owner: KubeObject, object: KubeObject): string | undefined {
  if (isControlledBy(object, owner)) return undefined;
  const other = controllerOf(object);
  const whose = other ? `belongs to ${other.kind} ${other.name}` : 'belongs to nobody and cannot be adopted now';
  return `A ${object.kind} named ${object.metadata.name} exists already and ${whose}`;
}

function ownerPatch(object: KubeObject, metadata: object, because: string): Action {
  return { do: 'patch', target: refOf(object), patch: { metadata }, resourceVersion: object.metadata.resourceVersion, because };
}
