/** What `decide` and `status` look at: one OfflineVirtualMachine and the VirtualMachine of its name. */
import type { OfflineVirtualMachine } from '../../api/kubevirt/kinds/offline-virtual-machine.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';

/** Everything that is known of one OfflineVirtualMachine when the controller looks at it. */
export type ObservedOfflineVm = {
  readonly ovm: OfflineVirtualMachine;
  /** The VM that it controls. */
  readonly vm?: VirtualMachine | undefined;
  /** A VM of the same name that it does not control. */
  readonly stranger?: VirtualMachine | undefined;
  /** The stranger has no controller, and a fresh look has shown that this OVM is still the one we think it is. */
  readonly mayAdopt?: boolean;
  /** Why the last attempt to create a VM failed, until one succeeds. */
  readonly createError?: string | undefined;
  /** Since when the VM that was there is gone. */
  readonly goneSince?: number | undefined;
  readonly now: number;
};
