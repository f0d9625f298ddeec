/**
 * VirtualMachineInstance: what must be true of it, and who may change what.
 *
 *   spec               fixed once it is there, except for our components
 *   reserved labels    set by our components only
 *   owner references   to kinds of ours: set and changed by our components and by Kubernetes itself
 */
import { VMIS } from '../../api/kubevirt/virtual-machine-instance.ts';
import { forbiddenCause } from '../../base/causes.ts';
import type { StatusCause } from '../../base/errors.ts';
import { deepEqual, isObject, type JsonObject } from '../../base/json.ts';
import { reservedLabelCauses } from './validate-labels.ts';
import { validateVmiSpec } from './validate-vmi-spec/validate-vmi-spec.ts';

/** Every reason to refuse an instance as it is. */
export function validateVmi({ spec }: JsonObject): StatusCause[] {
  return validateVmiSpec(isObject(spec) ? spec : {}, 'spec');
}

/** Every reason why this user may not make this change; `old` is undefined for a new instance. */
export function validateVmiChange(
  vmi: JsonObject,
  old: JsonObject | undefined,
  user: { readonly isComponent: boolean; readonly isControlPlane: boolean },
): StatusCause[] {
  if (user.isComponent) return [];
  const [now, before] = [metadataOf(vmi), metadataOf(old)];
  const causes: StatusCause[] = [];
  if (old && !deepEqual(vmi['spec'], old['spec']))
    causes.push(
      forbiddenCause('spec', 'the spec of an instance is fixed; change the VirtualMachine it is made from, or make a new instance'),
    );
  causes.push(...reservedLabelCauses(now['labels'], before['labels'], 'metadata.labels'));
  if (!user.isControlPlane && !deepEqual(ownersOf(now), ownersOf(before)))
    causes.push(forbiddenCause('metadata.ownerReferences', `owners of the group ${VMIS.group} are set by the components of KubeVirt only`));
  return causes;
}

/** The owners among the kinds of ours. */
function ownersOf({ ownerReferences }: JsonObject): readonly unknown[] {
  const owners = Array.isArray(ownerReferences) ? ownerReferences : [];
  return owners.filter((owner) => isObject(owner) && String(owner['apiVersion']).startsWith(`${VMIS.group}/`));
}

function metadataOf(object: JsonObject | undefined): JsonObject {
  const metadata = object?.['metadata'];
  return isObject(metadata) ? metadata : {};
}
