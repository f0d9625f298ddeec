/** Gathers what `decideVm` looks at: the VM, the instance of its name, and whose that instance is. */
import type { Node } from '../../api/core/node.ts';
import type { ControllerRevision } from '../../api/core/other.ts';
import { ANNOTATION_HEARTBEAT } from '../../api/kubevirt/names.ts';
import { type VirtualMachine, VMS } from '../../api/kubevirt/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/virtual-machine-instance.ts';
import { isControlledBy } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Cache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import { BY_CONTROLLER, mayAdopt } from '../claim.ts';
import type { CreateErrors } from '../create-errors.ts';
import type { ObservedVm } from './intent.ts';

export type VmObserver = {
  readonly client: Client;
  readonly clock: Clock;
  readonly vms: Cache<VirtualMachine>;
  readonly vmis: Cache<VirtualMachineInstance>;
  /** By the uid of the VM, under BY_CONTROLLER. */
  readonly revisions: Cache<ControllerRevision>;
  readonly nodes: Cache<Node>;
  readonly createErrors: CreateErrors;
};

/** What is known of the VM with this key; undefined when it is gone. */
export async function observeVm(observer: VmObserver, key: string): Promise<ObservedVm | undefined> {
  const { client, clock, vms, vmis, revisions, createErrors } = observer;
  const vm = vms.get(key);
  if (!vm) {
    createErrors.forget(key);
    return undefined;
  }
  const vmi = vmis.get(key);
  const started = revisions.byIndex(BY_CONTROLLER, vm.metadata.uid ?? '');
  const seen = { vm, now: clock.now(), createError: createErrors.get(key), revisions: started };
  if (!vmi) return seen;
  if (isControlledBy(vmi, vm)) return { ...seen, vmi, heartbeatAt: heartbeatOf(observer, vmi) };
  return { ...seen, stranger: vmi, mayAdopt: await mayAdopt({ client, resource: VMS, owner: vm, object: vmi }) };
}

/** A node that is gone has not been heard of since the beginning of time. */
function heartbeatOf({ nodes }: VmObserver, vmi: VirtualMachineInstance): number | undefined {
  const { nodeName } = vmi.status ?? {};
  if (!nodeName) return undefined;
  const at = Date.parse(nodes.get(nodeName)?.metadata.annotations?.[ANNOTATION_HEARTBEAT] ?? '');
  return Number.isNaN(at) ? 0 : at;
}
