/** Gathers what `decideVm` looks at: the VM, the instance of its name, and whose that instance is. */
import { type VirtualMachine, VMS } from '../../api/kubevirt/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/virtual-machine-instance.ts';
import { controllerOf, isControlledBy, isDeleting } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Cache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import type { CreateErrors } from '../create-errors.ts';
import type { ObservedVm } from './intent.ts';

export type VmObserver = {
  readonly client: Client;
  readonly clock: Clock;
  readonly vms: Cache<VirtualMachine>;
  readonly vmis: Cache<VirtualMachineInstance>;
  readonly createErrors: CreateErrors;
};

/** What is known of the VM with this key; undefined when it is gone. */
export async function observeVm({ client, clock, vms, vmis, createErrors }: VmObserver, key: string): Promise<ObservedVm | undefined> {
  const vm = vms.get(key);
  if (!vm) {
    createErrors.forget(key);
    return undefined;
  }
  const vmi = vmis.get(key);
  const seen = { vm, now: clock.now(), createError: createErrors.get(key) };
  if (!vmi) return seen;
  if (isControlledBy(vmi, vm)) return { ...seen, vmi };
  return { ...seen, stranger: vmi, mayAdopt: await mayAdopt(client, vm, vmi) };
}

/** Our copy of the VM may be that of a predecessor, so ownership is decided on a fresh one (spec 2.3, step 2). */
async function mayAdopt(client: Client, vm: VirtualMachine, vmi: VirtualMachineInstance): Promise<boolean> {
  if (controllerOf(vmi) || isDeleting(vm) || isDeleting(vmi)) return false;
  const fresh = await client.get(VMS, vm.metadata);
  return fresh !== undefined && fresh.metadata.uid === vm.metadata.uid && !isDeleting(fresh);
}
