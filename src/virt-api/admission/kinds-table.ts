/** What admission does for each kind of ours; a new kind is a new line. The rules in deploy/webhooks.yaml name the same resources. */
import { KUBEVIRTS } from '../../api/kubevirt/kinds/kubevirt.ts';
import { OFFLINE_VMS } from '../../api/kubevirt/kinds/offline-virtual-machine.ts';
import { VMIRSS } from '../../api/kubevirt/kinds/replica-set.ts';
import { VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { VMI_CONFIGS } from '../../api/kubevirt/kinds/vmi-config.ts';
import { keyOf } from '../../api/meta.ts';
import type { Resource } from '../../api/resource.ts';
import { forbiddenCause } from '../../base/causes.ts';
import type { StatusCause } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Client } from '../../client/client.ts';
import { type AdmissionRequest, handlerNodeOf, isComponent, isControlPlane } from './admission-request.ts';
import { validateReplicaSet, validateTemplate, validateVm } from './validate-vm.ts';
import { validateVmi, validateVmiChange } from './validate-vmi.ts';
import { templateWarnings, vmiWarnings, vmWarnings } from './warnings.ts';

export type AdmittedKind = {
  readonly resource: Resource;
  /** Every reason to refuse the object as it is. On an update, reasons that the old object has too are let pass. */
  readonly validate: (object: JsonObject) => StatusCause[];
  /** Every reason why this user may not make this change. */
  readonly validateChange?: (request: AdmissionRequest) => StatusCause[];
  /** Every reason that lies in other objects of the cluster. */
  readonly validateBeside?: (request: AdmissionRequest, client: Client) => Promise<StatusCause[]>;
  /** What the author should know about an object that is taken. */
  readonly warn?: (object: JsonObject) => string[];
};

export const ADMITTED_KINDS: readonly AdmittedKind[] = [
  { resource: VMS, validate: validateVm, warn: vmWarnings },
  {
    resource: VMIS,
    validate: validateVmi,
    warn: vmiWarnings,
    validateChange: ({ object, oldObject, ...who }) =>
      validateVmiChange(object ?? {}, oldObject, {
        isComponent: isComponent(who.username),
        isControlPlane: isControlPlane(who.username),
        handlerNode: handlerNodeOf(who),
      }),
  },
  { resource: VMIRSS, validate: validateReplicaSet, warn: templateWarnings },
  { resource: OFFLINE_VMS, validate: validateTemplate, warn: templateWarnings },
  { resource: KUBEVIRTS, validate: () => [], validateBeside: isTheOnlyOne }, // otherwise only fields that are not honoured are refused
  { resource: VMI_CONFIGS, validate: validateTemplate, warn: templateWarnings },
];

/** There is one configuration of an installation; with two nobody could say which one holds. */
async function isTheOnlyOne({ operation, object }: AdmissionRequest, client: Client): Promise<StatusCause[]> {
  if (operation !== 'CREATE' || !object) return [];
  const other = (await client.list(KUBEVIRTS)).items.find(({ metadata }) => keyOf(metadata) !== keyOf(object.metadata));
  return other ? [forbiddenCause('metadata.name', `the cluster has its KubeVirt already: ${keyOf(other.metadata)}`)] : [];
}
