/** Makes another machine: makes a VirtualMachineClone, and waits until it is over; starts the new one when asked to. */
import { type VirtualMachine, VMS } from '../../../api/kubevirt/kinds/virtual-machine.ts';
import { type VirtualMachineClone, VM_CLONES } from '../../../api/kubevirt/kinds/vm-clone.ts';
import { conditionOf } from '../../../api/meta.ts';
import { apiVersionOf } from '../../../api/resource.ts';
import { ApiError, UserError } from '../../../base/errors.ts';
import { parseMachineName } from '../../create/machine-name.ts';
import type { ClusterDeps, ConnectionFlags } from '../../deps.ts';
import { callVm } from '../../lifecycle/call-subresource.ts';
import { snapshotsOf } from '../../snapshot/snapshots-of.ts';
import { waitFor } from '../../snapshot/wait-for.ts';
import { vmName } from '../../vm-target.ts';

type CloneFlags = ConnectionFlags & { readonly snapshot?: string; readonly start: boolean };

export async function run(deps: ClusterDeps, flags: CloneFlags, machine: string, wanted: string): Promise<void> {
  const { client, namespace, clock, stdout } = deps;
  const [source, target] = [vmName('clone', [machine]), parseMachineName('', vmName('clone', [wanted]))];
  const [vm, other] = await Promise.all([client.get(VMS, { namespace, name: source }), client.get(VMS, { namespace, name: target })]);
  if (!vm) throw new ApiError('NotFound', `there is no virtual machine "${source}" in namespace ${namespace}`);
  if (other)
    throw new UserError('VM_EXISTS', `there is a virtual machine "${target}" already`, {
      why: 'it would not be touched',
      fix: 'choose another name',
      exitCode: 4,
    });
  if (flags.snapshot !== undefined) await checkSnapshot(deps, source, flags.snapshot);
  const name = `${target.slice(0, 50)}-${clock.now().toString(36)}`;
  const reference = (of: string) => ({ apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: of });
  const kept = { apiGroup: 'snapshot.kubevirt.io', kind: 'VirtualMachineSnapshot', name: flags.snapshot ?? '' };
  await client.create(VM_CLONES, {
    apiVersion: apiVersionOf(VM_CLONES),
    kind: 'VirtualMachineClone',
    metadata: { namespace, name },
    spec: { source: flags.snapshot === undefined ? reference(source) : kept, target: reference(target) },
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
  const what = flags.snapshot === undefined ? `what ${source} is` : `what ${source} was in ${flags.snapshot}`;
  if (!flags.start) {
    stdout.write(`${target} is ${what}, with disks and addresses of its own; virtctl start ${target} starts it\n`);
    return;
  }
  stdout.write(`${target} is ${what}, with disks and addresses of its own\n`);
  await waitFor<VirtualMachine>(deps, {
    resource: VMS,
    name: target,
    isOver: (vm) => !vm.status?.restoreInProgress,
    whyNot: () => undefined,
  });
  await callVm(deps, { verb: 'start', flags: { ...flags, dryRun: false }, words: [target], body: {} });
}

/** A clone of a snapshot that is not there would wait for it. */
async function checkSnapshot(deps: ClusterDeps, vm: string, name: string): Promise<void> {
  const all = await snapshotsOf(deps, vm);
  if (all.some(({ metadata }) => metadata.name === name)) return;
  throw new UserError('NO_SNAPSHOT', `${vm} has no snapshot "${name}"`, {
    why: all.length > 0 ? `it has ${all.map(({ metadata }) => metadata.name).join(', ')}` : 'nothing is kept of it',
    fix: `virtctl snapshot --memory ${vm} ${name} keeps it as it is now`,
    exitCode: 4,
  });
}
