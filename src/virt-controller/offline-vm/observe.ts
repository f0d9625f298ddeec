/** Gathers what `decideOfflineVm` looks at: the OVM, the VM of its name, and whose that VM is. */
import { OFFLINE_VMS, type OfflineVirtualMachine } from '../../api/kubevirt/kinds/offline-virtual-machine.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { isControlledBy } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Cache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import { mayAdopt } from '../../reconcile/owner.ts';
import type { WriteErrors } from '../../reconcile/write-errors.ts';
import type { Absences } from '../absences.ts';
import type { ObservedOfflineVm } from './observed.ts';

export type OfflineVmObserver = {
  readonly client: Client;
  readonly clock: Clock;
  readonly offlineVms: Cache<OfflineVirtualMachine>;
  readonly vms: Cache<VirtualMachine>;
  readonly createErrors: WriteErrors;
  readonly absences: Absences;
};

/** What is known of the OVM with this key; undefined when it is gone. */
export async function observeOfflineVm(observer: OfflineVmObserver, key: string): Promise<ObservedOfflineVm | undefined> {
  const { client, clock, offlineVms, vms, createErrors, absences } = observer;
  const ovm = offlineVms.get(key);
  if (!ovm) {
    createErrors.forget(key);
    absences.forget(key);
    return undefined;
  }
  const vm = vms.get(key);
  const now = clock.now();
  const seen = { ovm, now, goneSince: absences.since(key, vm !== undefined, now), createError: createErrors.get(key) };
  if (!vm) return seen;
  if (isControlledBy(vm, ovm)) return { ...seen, vm };
  return { ...seen, stranger: vm, mayAdopt: await mayAdopt({ client, resource: OFFLINE_VMS, owner: ovm, object: vm }) };
}
