/**
 * PUT evacuate/cancel of a machine or its instance: nobody wants it to leave its node any more. What is under way already goes on. It would leave all the same while the node
 * has the taint for that.
 */
import { NODES } from '../../api/core/node.ts';
import { hasDrainTaint } from '../../api/kubevirt/draining.ts';
import { VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ApiError } from '../../base/errors.ts';
import type { SubresourceCall } from '../subresource-call.ts';
import { isDryRun, readOptions } from './read-options.ts';

export async function cancelEvacuation({ client, configuration, log, namespace, name, request, user }: SubresourceCall): Promise<Response> {
  const options = await readOptions(request);
  const { evacuationNodeName: from } = options;
  if (from !== undefined && typeof from !== 'string') throw new ApiError('BadRequest', 'evacuationNodeName: Invalid value: must be a name');
  const vmi = await client.get(VMIS, { namespace, name });
  if (!vmi) {
    const details = { name, group: VMIS.group, kind: VMIS.plural };
    throw new ApiError('NotFound', `${VMIS.plural}.${VMIS.group} "${name}" not found`, { details });
  }
  const { evacuationNodeName: marked, nodeName } = vmi.status ?? {};
  if (from && marked !== from) throw new ApiError('Conflict', `VMI ${namespace}/${name} is not being evacuated from node ${from}`);
  const node = nodeName ? await client.get(NODES, { name: nodeName }) : undefined;
  if (hasDrainTaint(node, configuration))
    throw new ApiError(
      'BadRequest',
      `node ${nodeName} has the taint ${configuration.nodeDrainTaintKey}: machines leave it; take that off first`,
    );
  if (marked && !isDryRun(options)) {
    await client.patch(VMIS, { namespace, name }, { metadata: { uid: vmi.metadata.uid }, status: { evacuationNodeName: null } });
    log.info('evacuate/cancel', { object: `VirtualMachineInstance ${namespace}/${name}`, because: `${user} asked for it` });
  }
  return new Response(null, { status: 200 });
}
