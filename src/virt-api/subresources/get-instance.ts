/** The instance that a subresource is asked of. */
import { type VirtualMachineInstance, VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ApiError } from '../../base/errors.ts';
import type { SubresourceCall } from '../subresource-call.ts';

/** Throws NotFound. */
export async function getInstance({
  client,
  namespace,
  name,
}: Pick<SubresourceCall, 'client' | 'namespace' | 'name'>): Promise<VirtualMachineInstance> {
  const vmi = await client.get(VMIS, { namespace, name });
  if (vmi) return vmi;
  const details = { name, group: 'kubevirt.io', kind: 'virtualmachineinstances' };
  throw new ApiError('NotFound', `virtualmachineinstances.kubevirt.io "${name}" not found`, { details });
}
