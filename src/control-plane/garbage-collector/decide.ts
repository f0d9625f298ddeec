/**
 * What becomes of one object because of who owns it, or of what it owns.
 *
 *   object                                          what happens
 *   going, finalizer orphan                         every dependent loses its reference to it, then it loses the finalizer
 *   going, finalizer foregroundDeletion             waits for blocking dependents; when none is left it loses the finalizer
 *   going otherwise                                 nothing more
 *   some owner of a kind we cannot look up          nothing now, look again
 *   no owner reference, or all owners there         nothing
 *   some owner there, others gone or leaving        loses the references to the others
 *   no owner there, one leaving, has dependents     deleted in the foreground, so that the whole tree goes before the owner does
 *   no owner there                                  deleted in the background
 *
 * "Gone" is by uid: an object of the same name is another one. "Leaving" is an owner that itself waits in the foreground.
 * Every write is conditional on the object being as observed, so that a reference added meanwhile is never overlooked.
 */
import { isDeleting, type KubeObject, type OwnerReference, refOf } from '../../api/meta.ts';
import { type Action, type Decision, nothingToDo } from '../../reconcile/decision.ts';

export const ORPHAN = 'orphan';
export const FOREGROUND = 'foregroundDeletion';

/** `misplaced`: named across namespaces, where no owner is looked for. `unknown`: the kind is not served (any more, or yet). */
export type OwnerState = 'there' | 'leaving' | 'gone' | 'misplaced' | 'unknown';
type Owner = { readonly reference: OwnerReference; readonly state: OwnerState };

export type ObservedItem = {
  readonly item: KubeObject;
  readonly owners: readonly Owner[];
  /** Objects that name this one as an owner. */
  readonly dependents: readonly KubeObject[];
  /** Those of them that hold it up: blockOwnerDeletion, and not in a circle with it. */
  readonly blocking: readonly KubeObject[];
};

/** How long to wait for a kind to be served: a CustomResourceDefinition may be on its way. */
const UNKNOWN_KIND_MS = 30_000;

/** What is to be deleted, released or let go of. */
export function decideItem(observed: ObservedItem): Decision {
  const { item, owners } = observed;
  if (isDeleting(item)) return letGo(observed);
  if (owners.some(({ state }) => state === 'unknown')) return { actions: [], lookAgainAfterMs: UNKNOWN_KIND_MS };
  const lost = owners.filter(({ state }) => state !== 'there');
  if (lost.length === 0) return nothingToDo;
  if (lost.length < owners.length) {
    const names = lost.map(({ reference }) => `${reference.kind} ${reference.name}`).join(', ');
    return { actions: [withoutOwners(item, new Set(lost.map(({ reference }) => reference.uid)), `not owned by ${names} any more`)] };
  }
  return { actions: [removal(observed)] };
}

/** True for an owner that stays only until its dependents are gone. */
export function isLeaving(object: KubeObject): boolean {
  return isDeleting(object) && hasFinalizer(object, FOREGROUND);
}

export function hasFinalizer({ metadata }: KubeObject, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) ?? false;
}

function letGo({ item, dependents, blocking }: ObservedItem): Decision {
  if (hasFinalizer(item, ORPHAN)) {
    const because = `${item.kind} ${item.metadata.name} is deleted without what it owns`;
    const released = dependents.map((dependent) => withoutOwners(dependent, new Set([item.metadata.uid ?? '']), because));
    return { actions: [...released, withoutFinalizer(item, ORPHAN, 'all dependents are released')] };
  }
  if (!hasFinalizer(item, FOREGROUND) || blocking.length > 0) return nothingToDo;
  return { actions: [withoutFinalizer(item, FOREGROUND, 'no dependent holds it up')] };
}

function removal({ item, owners, dependents }: ObservedItem): Action {
  const isInForeground = owners.some(({ state }) => state === 'leaving') && dependents.length > 0;
  const { reference, state } = owners.find((owner) => owner.state === 'misplaced') ?? owners[0]!; // called with one at least
  const because = `owner ${reference.kind} ${reference.name} is ${state}`;
  const message = `ownerRef ${reference.kind} ${reference.name} (uid ${reference.uid}) does not exist in namespace "${item.metadata.namespace ?? ''}"`;
  return {
    do: 'delete',
    target: refOf(item),
    resourceVersion: item.metadata.resourceVersion,
    propagationPolicy: isInForeground ? 'Foreground' : policyOf(item),
    because,
    event: state === 'misplaced' ? { type: 'Warning', reason: 'OwnerRefInvalidNamespace', message } : undefined,
  };
}

/** A finalizer that is already there is a choice that was made before: a delete without one would override it. */
function policyOf(item: KubeObject): 'Orphan' | 'Foreground' | 'Background' {
  if (hasFinalizer(item, ORPHAN)) return 'Orphan';
  return hasFinalizer(item, FOREGROUND) ? 'Foreground' : 'Background';
}

function withoutOwners(item: KubeObject, uids: ReadonlySet<string>, because: string): Action {
  const left = (item.metadata.ownerReferences ?? []).filter(({ uid }) => !uids.has(uid));
  return change(item, { ownerReferences: left.length === 0 ? null : left }, because);
}

function withoutFinalizer(item: KubeObject, finalizer: string, because: string): Action {
  const left = (item.metadata.finalizers ?? []).filter((each) => each !== finalizer);
  return change(item, { finalizers: left.length === 0 ? null : left }, because);
}

function change(item: KubeObject, metadata: object, because: string): Action {
  return { do: 'patch', target: refOf(item), patch: { metadata }, resourceVersion: item.metadata.resourceVersion, because };
}
