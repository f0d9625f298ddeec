/** What admission does for each kind of ours: the compiler asks for a line of every kind that has a record, `{}` where there are no rules of its own. */
import { KUBEVIRTS } from '../../api/kubevirt/kinds/kubevirt.ts';
import type { KindName } from '../../api/kubevirt/kinds-table.ts';
import { keyOf } from '../../api/meta.ts';
import { forbiddenCause } from '../../base/causes.ts';
import type { StatusCause } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Client } from '../../client/client.ts';
import { type AdmissionRequest, handlerNodeOf, isComponent, isControlPlane, type ReviewedObject } from './admission-request.ts';
import { decideMutation, type PatchOperation } from './decide-mutation.ts';
import { validateReplicaSet, validateTemplate, validateVm } from './validate-vm.ts';
import { validateVmi, validateVmiChange } from './validate-vmi.ts';
import { templateWarnings, vmiWarnings, vmWarnings } from './warnings.ts';

export type Rules = {
  /** What completes the object on its way into the store. Asked for only when the record of the kind has `admission.mutate`. */
  readonly mutate?: (request: AdmissionRequest & { readonly object: ReviewedObject }, given: Given) => PatchOperation[];
  /** Every reason to refuse the object as it is. On an update, reasons that the old object has too are let pass. */
  readonly validate?: (object: JsonObject) => StatusCause[];
  /** Every reason why this user may not make this change. */
  readonly validateChange?: (request: AdmissionRequest) => StatusCause[];
  /** Every reason that lies in other objects of the cluster. */
  readonly validateBeside?: (request: AdmissionRequest, client: Client) => Promise<StatusCause[]>;
  /** What the author should know about an object that is taken. */
  readonly warn?: (object: JsonObject) => string[];
};

/** What rules cannot know by themselves; `now` is as it is written into objects. */
type Given = { readonly newUuid: string; readonly now: string };

export const RULES: Readonly<Record<KindName, Rules>> = {
  VirtualMachine: { validate: validateVm, warn: vmWarnings },
  VirtualMachineInstance: {
    mutate: ({ operation, object, oldObject, username }, given) =>
      decideMutation({ operation, object, oldObject, isComponent: isComponent(username), ...given }),
    validate: validateVmi,
    warn: vmiWarnings,
    validateChange: ({ object, oldObject, ...who }) =>
      validateVmiChange(object ?? {}, oldObject, {
        isComponent: isComponent(who.username),
        isControlPlane: isControlPlane(who.username),
        handlerNode: handlerNodeOf(who),
      }),
  },
  VirtualMachineInstanceReplicaSet: { validate: validateReplicaSet, warn: templateWarnings },
  OfflineVirtualMachine: { validate: validateTemplate, warn: templateWarnings },
  VirtualMachineInstanceConfig: { validate: validateTemplate, warn: templateWarnings },
  KubeVirt: { validateBeside: isTheOnlyOne }, // otherwise only fields that are not honoured are refused
};

/** There is one configuration of an installation; with two nobody could say which one holds. */
async function isTheOnlyOne({ operation, object }: AdmissionRequest, client: Client): Promise<StatusCause[]> {
  if (operation !== 'CREATE' || !object) return [];
  const other = (await client.list(KUBEVIRTS)).items.find(({ metadata }) => keyOf(metadata) !== keyOf(object.metadata));
  return other ? [forbiddenCause('metadata.name', `the cluster has its KubeVirt already: ${keyOf(other.metadata)}`)] : [];
}
