/**
 * Keeps the instance types and preferences that come with an installation. The rules, for each of them:
 *
 *   the installation goes, or is not the one     nothing: they go with their definitions
 *   somebody else has made one of that name      leave it
 *   they are switched off                        delete ours
 *   it is missing, or says something else        apply it
 *   ours, and no longer among them               delete it
 *
 * Machines keep copies of what they were made with, so none of this reaches them.
 */
import type { KubeVirt } from '../../api/kubevirt/kinds/kubevirt.ts';
import { LABEL_NAME, NAME_COMMON_INSTANCETYPES } from '../../api/kubevirt/names.ts';
import { isDeleting, type KubeObject, refOf } from '../../api/meta.ts';
import { type Action, type Decision, nothingToDo } from '../../reconcile/decision.ts';
import { identityOf, isManaged } from '../objects/marks.ts';
import { matchesDesired } from '../objects/matches-desired.ts';

export type ObservedCommonInstancetypes = {
  readonly kubeVirt: KubeVirt;
  readonly isTheOne: boolean;
  /** As they are to be, marked as ours. */
  readonly wanted: readonly KubeObject[];
  /** All that there are of these kinds, whoever made them. */
  readonly stored: readonly KubeObject[];
};

export function decideCommonInstancetypes({ kubeVirt, isTheOne, wanted, stored }: ObservedCommonInstancetypes): Decision {
  if (isDeleting(kubeVirt) || !isTheOne) return nothingToDo;
  const isOn = kubeVirt.spec.configuration?.commonInstancetypesDeployment?.enabled !== false;
  const known = new Map(stored.map((object) => [identityOf(object), object]));
  const changes = isOn ? wanted.flatMap((object) => applied(object, known.get(identityOf(object)))) : [];
  const isWanted = new Set(isOn ? wanted.map(identityOf) : []);
  const surplus = stored.filter((object) => isOurs(object) && !isDeleting(object) && !isWanted.has(identityOf(object)));
  return { actions: [...changes, ...surplus.map((object) => removed(object, isOn))] };
}

function applied(object: KubeObject, found: KubeObject | undefined): Action[] {
  if (found && (!isOurs(found) || isDeleting(found) || matchesDesired(found, object))) return [];
  return [{ do: 'apply', object, because: found ? 'it says something else than is wanted' : 'it is missing' }];
}

function removed(object: KubeObject, isOn: boolean): Action {
  return { do: 'delete', target: refOf(object), because: isOn ? 'it is no longer wanted' : 'common instance types are switched off' };
}

function isOurs(object: KubeObject): boolean {
  return isManaged(object) && object.metadata.labels?.[LABEL_NAME] === NAME_COMMON_INSTANCETYPES;
}
