/** What admission does for each kind of ours: the compiler asks for a line of every kind that has a record, `{}` where there are no rules of its own. */
import type { ClusterConfiguration } from '../../api/kubevirt/configuration/cluster-configuration.ts';
import { configurationCauses } from '../../api/kubevirt/configuration/configuration-causes.ts';
import { customizeCauses } from '../../api/kubevirt/configuration/customize-causes.ts';
import { KUBEVIRTS, type KubeVirt } from '../../api/kubevirt/kinds/kubevirt.ts';
import type { KindName } from '../../api/kubevirt/kinds-table.ts';
import { keyOf } from '../../api/meta.ts';
import { forbiddenCause } from '../../base/causes.ts';
import type { StatusCause } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import type { Client } from '../../client/client.ts';
import { hasForeignCdi } from '../../client/foreign-cdi.ts';
import { expandChoices } from '../expand-choices.ts';
import { type AdmissionRequest, handlerNodeOf, isComponent, isControlPlane, type ReviewedObject } from './admission-request.ts';
import type { Completion, Given } from './completion.ts';
import type { PatchOperation } from './decide-mutation.ts';
import { mutateVm } from './mutate-vm.ts';
import { mutateVmi } from './mutate-vmi.ts';
import { reviewMigration } from './review-migration.ts';
import { validateBackup, validateBackupTracker } from './validate-backup.ts';
import { validateClone } from './validate-clone.ts';
import { validateDataVolume } from './validate-data-volume.ts';
import { validateExport } from './validate-export.ts';
import { labelMigration, validateMigration, validateMigrationChange } from './validate-migration.ts';
import { validateMigrationPolicy } from './validate-migration-policy.ts';
import { inPoolTemplate, machineOf, validatePool, validatePoolChange } from './validate-pool.ts';
import { presetWarnings, validatePreset } from './validate-preset.ts';
import { validateRestore, validateSameSpec, validateSnapshot } from './validate-snapshot.ts';
import { validateReplicaSet, validateTemplate, validateVm } from './validate-vm.ts';
import { validateVmi, validateVmiChange } from './validate-vmi.ts';
import { isVmShaped } from './vm-shape.ts';
import { templateWarnings, vmiWarnings, vmWarnings } from './warnings.ts';

export type Rules = {
  /** Somebody else looks after the objects of this kind here: nothing of them is for us to judge. */
  readonly isElsewhere?: (client: Client) => Promise<boolean>;
  /** What completes the object on its way into the store. Asked for only when the record of the kind has `admission.mutate`. */
  readonly mutate?: (
    request: AdmissionRequest & { readonly object: ReviewedObject },
    given: Given,
  ) => PatchOperation[] | Promise<PatchOperation[] | Completion>;
  /** The object with everything written out that it only names, which is then judged in its place; or why that cannot be. */
  readonly expand?: (
    object: ReviewedObject,
    client: Client,
  ) => Promise<{ readonly object: JsonObject } | { readonly causes: readonly StatusCause[] }>;
  /** Every reason to refuse the object as it is. On an update, reasons that the old object has too are let pass. */
  readonly validate?: (object: JsonObject, configuration: ClusterConfiguration) => StatusCause[];
  /** Every reason why this user may not make this change. */
  readonly validateChange?: (request: AdmissionRequest) => StatusCause[];
  /** Every reason that lies in other objects of the cluster. */
  readonly validateBeside?: (request: AdmissionRequest, client: Client) => Promise<StatusCause[]>;
  /** What the author should know about an object that is taken. */
  readonly warn?: (object: JsonObject) => string[];
};

export const RULES: Readonly<Record<KindName, Rules>> = {
  VirtualMachine: {
    mutate: ({ object }, { client }) => mutateVm(object, client),
    expand: expandReviewedVm,
    validate: validateVm,
    warn: vmWarnings,
  },
  VirtualMachineInstance: {
    mutate: mutateVmi,
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
  VirtualMachineInstanceMigration: {
    mutate: ({ object }) => labelMigration(object),
    validate: validateMigration,
    validateChange: validateMigrationChange,
    validateBeside: reviewMigration,
  },
  MigrationPolicy: { validate: validateMigrationPolicy },
  OfflineVirtualMachine: { validate: validateTemplate, warn: templateWarnings },
  VirtualMachineInstanceConfig: { validate: validateTemplate, warn: templateWarnings },
  VirtualMachineInstancePreset: { validate: validatePreset, warn: presetWarnings },
  VirtualMachineInstancetype: {},
  VirtualMachineClusterInstancetype: {},
  VirtualMachinePreference: {},
  VirtualMachineClusterPreference: {},
  VirtualMachinePool: { expand: expandPool, validate: validatePool, validateChange: validatePoolChange },
  VirtualMachineSnapshot: { validate: validateSnapshot, validateChange: validateSameSpec },
  VirtualMachineSnapshotContent: {},
  VirtualMachineRestore: { validate: validateRestore, validateChange: validateSameSpec },
  VirtualMachineClone: { validate: validateClone, validateChange: validateSameSpec },
  VirtualMachineExport: { validate: validateExport, validateChange: validateSameSpec },
  VirtualMachineBackup: { validate: validateBackup, validateChange: validateSameSpec },
  VirtualMachineBackupTracker: { validate: validateBackupTracker, validateChange: validateSameSpec },
  DataVolume: { isElsewhere: hasForeignCdi, validate: validateDataVolume, validateChange: validateSameSpec },
  CDIConfig: { isElsewhere: hasForeignCdi },
  KubeVirt: { validate: validateKubeVirt, validateBeside: isTheOnlyOne },
};

/** The template stands in the place of a machine; where it cannot be expanded, its fields are told as those of the pool. */
async function expandPool(object: ReviewedObject, client: Client) {
  const vm = machineOf(object);
  const expanded = vm ? await expandReviewedVm(vm, client) : undefined;
  if (!expanded) return { object };
  if ('causes' in expanded) return { causes: expanded.causes.map(inPoolTemplate) };
  const spec = isObject(object['spec']) ? object['spec'] : {};
  const template = isObject(spec['virtualMachineTemplate']) ? spec['virtualMachineTemplate'] : {};
  return { object: { ...object, spec: { ...spec, virtualMachineTemplate: { ...template, spec: expanded.object['spec'] } } } };
}

async function expandReviewedVm(object: ReviewedObject, client: Client) {
  if (!isVmShaped(object)) return { object };
  const expansion = await expandChoices(client, object);
  return 'causes' in expansion ? expansion : { object: expansion.vm as unknown as JsonObject };
}

/** What contradicts itself; fields that are not honoured are refused before. */
function validateKubeVirt({ spec }: JsonObject): StatusCause[] {
  if (!isObject(spec)) return [];
  const { configuration } = spec as KubeVirt['spec']; // the schema has checked the types
  return [...configurationCauses(configuration), ...customizeCauses(spec as KubeVirt['spec'])];
}

/** There is one configuration of an installation; with two nobody could say which one holds. */
async function isTheOnlyOne({ operation, object }: AdmissionRequest, client: Client): Promise<StatusCause[]> {
  if (operation !== 'CREATE' || !object) return [];
  const other = (await client.list(KUBEVIRTS)).items.find(({ metadata }) => keyOf(metadata) !== keyOf(object.metadata));
  return other ? [forbiddenCause('metadata.name', `the cluster has its KubeVirt already: ${keyOf(other.metadata)}`)] : [];
}
