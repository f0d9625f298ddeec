/**
 * VirtualMachineInstanceMigration: what must be true of a new one.
 *
 *   vmiName    there, and fixed from then on, as all of the spec
 *   the VMI    is there, has not ended, and can be moved
 *   others     none of this VMI is under way
 */
import { vmiCondition } from '../../api/kubevirt/condition-reasons.ts';
import { isMigrationFinal, MIGRATIONS } from '../../api/kubevirt/kinds/migration.ts';
import { isFinal, VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { LABEL_MIGRATION_VMI } from '../../api/kubevirt/names.ts';
import { forbiddenCause, invalidCause, requiredCause } from '../../base/causes.ts';
import type { StatusCause } from '../../base/errors.ts';
import { deepEqual, isObject, type JsonObject } from '../../base/json.ts';
import type { Client } from '../../client/client.ts';
import type { AdmissionRequest, ReviewedObject } from './admission-request.ts';
import type { PatchOperation } from './decide-mutation.ts';

const NAME = 'spec.vmiName';

/** Every reason to refuse a migration as it is. */
export function validateMigration(object: JsonObject): StatusCause[] {
  return vmiNameOf(object) === '' ? [requiredCause(NAME, 'it names the instance that is to be moved')] : [];
}

/** Every reason why this change may not be made. */
export function validateMigrationChange({ object, oldObject }: AdmissionRequest): StatusCause[] {
  if (!object || !oldObject || deepEqual(object['spec'], oldObject['spec'])) return [];
  return [forbiddenCause('spec', 'a migration cannot be changed; delete it, and make another')];
}

/** Every reason that lies in the instance or in other migrations. */
export async function validateMigrationBeside({ operation, object }: AdmissionRequest, client: Client): Promise<StatusCause[]> {
  const name = object ? vmiNameOf(object) : '';
  if (operation !== 'CREATE' || !object || name === '') return [];
  const { namespace } = object.metadata;
  const vmi = await client.get(VMIS, { namespace, name });
  if (!vmi) return [invalidCause(NAME, name, `there is no VMI ${namespace}/${name}`)];
  if (isFinal(vmi)) return [forbiddenCause(NAME, `VMI ${namespace}/${name} has ended: it is ${vmi.status?.phase}`)];
  const movable = vmiCondition(vmi, 'LiveMigratable');
  if (movable?.status === 'False') return [forbiddenCause(NAME, `VMI ${namespace}/${name} cannot be moved: ${movable.message ?? movable.reason}`)];
  const { items } = await client.list(MIGRATIONS, { namespace });
  const other = items.find((each) => each.spec.vmiName === name && !isMigrationFinal(each));
  return other ? [forbiddenCause(NAME, `in-flight migration detected: VMI ${namespace}/${name} is being moved by ${other.metadata.name}`)] : [];
}

/** The instance as a label too, for who looks for the migrations of one. */
export function labelMigration(object: ReviewedObject): PatchOperation[] {
  const name = vmiNameOf(object);
  const { labels = {} } = object.metadata;
  if (name === '' || name.length > 63 || labels[LABEL_MIGRATION_VMI] === name) return [];
  return [{ op: 'add', path: '/metadata/labels', value: { ...labels, [LABEL_MIGRATION_VMI]: name } }];
}

function vmiNameOf({ spec }: JsonObject): string {
  return isObject(spec) && typeof spec['vmiName'] === 'string' ? spec['vmiName'] : '';
}
