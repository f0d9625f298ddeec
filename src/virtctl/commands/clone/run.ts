/** Makes another machine: makes a VirtualMachineClone, waits until it is over, and takes it away. */
import { VMS } from '../../../api/kubevirt/kinds/virtual-machine.ts';
import { type VirtualMachineClone, VM_CLONES } from '../../../api/kubevirt/kinds/vm-clone.ts';
import { conditionOf } from '../../../api/meta.ts';
import { apiVersionOf } from '../../../api/resource.ts';
import { ApiError, UserError } from '../../../base/errors.ts';
import type { ClusterDeps, ConnectionFlags } from '../../deps.ts';
import { waitFor } from '../../snapshot/wait-for.ts';
import { vmName } from '../../vm-target.ts';

export async function run(deps: ClusterDeps, _flags: ConnectionFlags, machine: string, wanted: string): Promise<void> {
  const { client, namespace, clock, stdout } = deps;
  const [source, target] = [vmName('clone', [machine]), vmName('clone', [wanted])];
  const [vm, other] = await Promise.all([client.get(VMS, { namespace, name: source }), client.get(VMS, { namespace, name: target })]);
  if (!vm) throw new ApiError('NotFound', `there is no virtual machine "${source}" in namespace ${namespace}`);
  if (other)
    throw new UserError('VM_EXISTS', `there is a virtual machine "${target}" already`, {
      why: 'it would not be touched',
      fix: 'choose another name',
      exitCode: 4,
    });
  const name = `${target.slice(0, 50)}-${clock.now().toString(36)}`;
  const reference = (of: string) => ({ apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: of });
  await client.create(VM_CLONES, {
    apiVersion: apiVersionOf(VM_CLONES),
    kind: 'VirtualMachineClone',
    metadata: { namespace, name },
    spec: { source: reference(source), target: reference(target) },
  });
  const { status } = await waitFor<VirtualMachineClone>(deps, {
    resource: VM_CLONES,
    name,
    isOver: (clone) => clone.status?.phase === 'Succeeded' || clone.status?.phase === 'Failed',
    whyNot: (clone) => conditionOf(clone.status?.conditions, 'Progressing')?.message,
  });
  if (status?.phase === 'Failed')
    throw new UserError('CLONE_FAILED', `${target} was not made`, {
      why: conditionOf(status.conditions, 'Progressing')?.message,
      fix: `kubectl describe vmclone ${name} -n ${namespace}`,
    });
  stdout.write(`${target} is what ${source} is, with disks and addresses of its own; virtctl start ${target} starts it\n`);
}
