/** VirtualMachineInstanceMigration: it names an instance, and is fixed from then on. What lies in other objects is in review-migration.ts. */
import { LABEL_MIGRATION_VMI } from '../../api/kubevirt/names.ts';
import { forbiddenCause, requiredCause } from '../../base/causes.ts';
import type { StatusCause } from '../../base/errors.ts';
import { deepEqual, isObject, type JsonObject } from '../../base/json.ts';
import type { AdmissionRequest, ReviewedObject } from './admission-request.ts';
import type { PatchOperation } from './decide-mutation.ts';

/** The field that names the instance. */
export const VMI_NAME_FIELD = 'spec.vmiName';

/** Every reason to refuse a migration as it is. */
export function validateMigration(object: JsonObject): StatusCause[] {
  return vmiNameOf(object) === '' ? [requiredCause(VMI_NAME_FIELD, 'it names the instance that is to be moved')] : [];
}

/** Every reason why this change may not be made. */
export function validateMigrationChange({ object, oldObject }: AdmissionRequest): StatusCause[] {
  if (!object || !oldObject || deepEqual(object['spec'], oldObject['spec'])) return [];
  return [forbiddenCause('spec', 'a migration cannot be changed; delete it, and make another')];
}

/** The instance as a label too, for who looks for the migrations of one. */
export function labelMigration(object: ReviewedObject): PatchOperation[] {
  const name = vmiNameOf(object);
  const { labels = {} } = object.metadata;
  if (name === '' || name.length > 63 || labels[LABEL_MIGRATION_VMI] === name) return [];
  return [{ op: 'add', path: '/metadata/labels', value: { ...labels, [LABEL_MIGRATION_VMI]: name } }];
}

/** The instance that a migration names; nothing when it names none. */
export function vmiNameOf({ spec }: JsonObject): string {
  return isObject(spec) && typeof spec['vmiName'] === 'string' ? spec['vmiName'] : '';
}
