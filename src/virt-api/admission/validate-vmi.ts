/**
 * VirtualMachineInstance: what must be true of it, and who may change what.
 *
 *   spec               fixed once it is there, except for our components
 *   reserved labels    set by our components only
 *   owner references   to kinds of ours: set and changed by our components and by Kubernetes itself
 *   a virt-handler     changes what it sees of instances on its own node, and nothing else: a node that was taken over reaches no other
 */

import type { ClusterConfiguration } from '../../api/kubevirt/configuration/cluster-configuration.ts';
import { VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { LABEL_NODE_NAME } from '../../api/kubevirt/names.ts';
import { forbiddenCause } from '../../base/causes.ts';
import type { StatusCause } from '../../base/errors.ts';
import { deepEqual, isObject, type JsonObject, jsonText } from '../../base/json.ts';
import { reservedLabelCauses } from './validate-labels.ts';
import { validateVmiSpec } from './validate-vmi-spec/validate-vmi-spec.ts';

/** Every reason to refuse an instance as it is. */
export function validateVmi({ spec }: JsonObject, configuration: ClusterConfiguration): StatusCause[] {
  return validateVmiSpec(isObject(spec) ? spec : {}, 'spec', configuration);
}

/** Every reason why this user may not make this change; `old` is undefined for a new instance. */
export function validateVmiChange(
  vmi: JsonObject,
  old: JsonObject | undefined,
  user: { readonly isComponent: boolean; readonly isControlPlane: boolean; readonly handlerNode?: string | undefined },
): StatusCause[] {
  if (user.handlerNode !== undefined) return handlerCauses(vmi, old, user.handlerNode);
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

function handlerCauses(vmi: JsonObject, old: JsonObject | undefined, node: string): StatusCause[] {
  const [now, before] = [metadataOf(vmi), metadataOf(old)];
  const of = (object: JsonObject | undefined, part: string, key: string) => {
    const value = object?.[part];
    return isObject(value) ? value[key] : undefined;
  };
  const label = `metadata.labels[${LABEL_NODE_NAME}]`;
  if (of(before, 'labels', LABEL_NODE_NAME) !== node)
    return [forbiddenCause(label, `the virt-handler of node ${node} may only change instances that were handed to it`)];
  const changes: readonly (readonly [field: string, now: unknown, before: unknown])[] = [
    ['spec', vmi['spec'], old?.['spec']],
    ['metadata.labels', now['labels'], before['labels']],
    ['metadata.ownerReferences', now['ownerReferences'], before['ownerReferences']],
    ['status.nodeName', of(vmi, 'status', 'nodeName'), of(old, 'status', 'nodeName')],
  ];
  return changes
    .filter(([, after, first]) => !deepEqual(after, first))
    .map(([field]) => forbiddenCause(field, 'is not for a virt-handler to change'));
}

/** The owners among the kinds of ours. */
function ownersOf({ ownerReferences }: JsonObject): readonly unknown[] {
  const owners = Array.isArray(ownerReferences) ? ownerReferences : [];
  return owners.filter((owner) => isObject(owner) && jsonText(owner['apiVersion']).startsWith(`${VMIS.group}/`));
}

function metadataOf(object: JsonObject | undefined): JsonObject {
  const metadata = object?.['metadata'];
  return isObject(metadata) ? metadata : {};
}
