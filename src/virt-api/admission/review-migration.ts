/**
 * Whether an instance may be moved now, as a new VirtualMachineInstanceMigration asks for it.
 *
 *   the VMI    is there, has not ended, can be moved, and is not being suspended
 *   others     none of this VMI is under way
 */
import { vmiCondition } from '../../api/kubevirt/condition-reasons.ts';
import { hindranceOf } from '../../api/kubevirt/exclusive-operations.ts';
import { isMigrationFinal, MIGRATIONS } from '../../api/kubevirt/kinds/migration.ts';
import { isFinal, VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { forbiddenCause, invalidCause } from '../../base/causes.ts';
import type { StatusCause } from '../../base/errors.ts';
import type { Client } from '../../client/client.ts';
import type { AdmissionRequest } from './admission-request.ts';
import { VMI_NAME_FIELD, vmiNameOf } from './validate-migration.ts';

/** Every reason that lies in the instance or in other migrations. */
export async function reviewMigration({ operation, object }: AdmissionRequest, client: Client): Promise<StatusCause[]> {
  const name = object ? vmiNameOf(object) : '';
  if (operation !== 'CREATE' || !object || name === '') return [];
  const { namespace } = object.metadata;
  const vmi = await client.get(VMIS, { namespace, name });
  if (!vmi) return [invalidCause(VMI_NAME_FIELD, name, `there is no VMI ${namespace}/${name}`)];
  if (isFinal(vmi)) return [forbiddenCause(VMI_NAME_FIELD, `VMI ${namespace}/${name} has ended: it is ${vmi.status?.phase}`)];
  if (hindranceOf('move', vmi)?.is === 'suspended')
    return [forbiddenCause(VMI_NAME_FIELD, `VMI ${namespace}/${name} cannot be moved: ${hindranceOf('move', vmi)?.why}`)];
  const movable = vmiCondition(vmi, 'LiveMigratable');
  if (movable?.status === 'False')
    return [forbiddenCause(VMI_NAME_FIELD, `VMI ${namespace}/${name} cannot be moved: ${movable.message ?? movable.reason}`)];
  const { items } = await client.list(MIGRATIONS, { namespace });
  const other = items.find((each) => each.spec.vmiName === name && !isMigrationFinal(each));
  return other
    ? [forbiddenCause(VMI_NAME_FIELD, `in-flight migration detected: VMI ${namespace}/${name} is being moved by ${other.metadata.name}`)]
    : [];
}
