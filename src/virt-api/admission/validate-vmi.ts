/**
 * VirtualMachineInstance: what must be true of it, and who may change what.
 *
 *   spec               fixed once it is there, except for our components
 *   reserved labels    set by our components only
 *   owner references   to kinds of ours: set and changed by our components and by Kubernetes itself
 *   a virt-handler     changes what it sees of instances on its own node, and nothing else: a node that was taken over reaches no other.
 *                      It hands an instance over to the node that its move goes to, and says of one that comes to it how far that is
 */

import type { ClusterConfiguration } from '../../api/kubevirt/configuration/cluster-configuration.ts';
import { VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { LABEL_MIGRATION_TARGET_NODE, LABEL_NODE_NAME } from '../../api/kubevirt/names.ts';
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
  const isHere = of(before, 'labels', LABEL_NODE_NAME) === node;
  if (!isHere && of(before, 'labels', LABEL_MIGRATION_TARGET_NODE) === node) return comingCauses(vmi, old);
  if (isHere && isHandedOver(vmi, old)) return [];
  if (!isHere) return [forbiddenCause(label, `the virt-handler of node ${node} may only change instances that were handed to it`)];
  const changes: readonly (readonly [field: string, now: unknown, before: unknown])[] = [
    ['spec', vmi['spec'], old?.['spec']],
    ['metadata.labels', now['labels'], before['labels']],
    ['metadata.ownerReferences', now['ownerReferences'], before['ownerReferences']],
    ['status.migrationState', wayOf(vmi), wayOf(old)],
    ['status.nodeName', of(vmi, 'status', 'nodeName'), of(old, 'status', 'nodeName')],
  ];
  return changes
    .filter(([, after, first]) => !deepEqual(after, first))
    .map(([field]) => forbiddenCause(field, 'is not for a virt-handler to change'));
}

/** What the end of a move says of it: that it is over, since when, and how much was sent. */
const AT_THE_END = { completed: undefined, endTimestamp: undefined, progress: undefined };

/** The one write that gives an instance away: to where its move goes, as virt-controller has written. All else stays as it is. */
function isHandedOver(vmi: JsonObject, old: JsonObject | undefined): boolean {
  const [now, before] = [statusOf(vmi), statusOf(old)];
  const [state, was] = [now['migrationState'], before['migrationState']];
  if (!isObject(state) || !isObject(was) || was['completed'] || was['failed'] || !state['completed']) return false;
  const target = was['targetNode'];
  const wanted = { ...metadataOf(old), labels: { ...labelsOf(old), [LABEL_NODE_NAME]: target } };
  const { labels, ownerReferences } = metadataOf(vmi);
  return (
    typeof target === 'string' &&
    deepEqual(wayOf(vmi), wayOf(old)) &&
    deepEqual(vmi['spec'], old?.['spec']) &&
    deepEqual(labels, wanted.labels) &&
    deepEqual(ownerReferences, metadataOf(old)['ownerReferences']) &&
    deepEqual(
      { ...now, migrationState: { ...state, ...AT_THE_END }, nodeName: undefined },
      { ...before, migrationState: { ...was, ...AT_THE_END }, nodeName: undefined },
    ) &&
    now['nodeName'] === target
  );
}

/** Of an instance that is not here yet: where it can be sent to, or that it cannot. That it has come is not for its target to say. */
function comingCauses(vmi: JsonObject, old: JsonObject | undefined): StatusCause[] {
  const { migrationState: state, ...now } = statusOf(vmi);
  const { migrationState: was, ...before } = statusOf(old);
  const completed = (each: unknown) => (isObject(each) ? each['completed'] : undefined);
  const [meta, metaBefore] = [metadataOf(vmi), metadataOf(old)];
  const isSame =
    deepEqual(vmi['spec'], old?.['spec']) &&
    deepEqual(now, before) &&
    deepEqual(meta['labels'], metaBefore['labels']) &&
    deepEqual(meta['ownerReferences'], metaBefore['ownerReferences']) &&
    completed(state) === completed(was) &&
    deepEqual(wayOf(vmi), wayOf(old));
  return isSame ? [] : [forbiddenCause('status', 'a virt-handler may only say whether it is ready for an instance that comes to its node')];
}

/** From where to where an instance goes, for whom, and what that may take, is virt-controller's to say. */
function wayOf(object: JsonObject | undefined): readonly unknown[] {
  const { migrationState: state } = statusOf(object);
  const { migrationUid, sourceNode, sourcePod, targetNode, targetPod, migrationNetworkType, migrationPolicyName, migrationConfiguration } =
    isObject(state) ? state : {};
  return [migrationUid, sourceNode, sourcePod, targetNode, targetPod, migrationNetworkType, migrationPolicyName, migrationConfiguration];
}

function statusOf(object: JsonObject | undefined): JsonObject {
  const status = object?.['status'];
  return isObject(status) ? status : {};
}

function labelsOf(object: JsonObject | undefined): JsonObject {
  const { labels } = metadataOf(object);
  return isObject(labels) ? labels : {};
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
