/** What `decide` and `status` look at: one replica set and every instance that may be its own. */
import type { VirtualMachineInstanceReplicaSet } from '../../api/kubevirt/kinds/replica-set.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';

/** Everything that is known of one set when the controller looks at it. */
export type ObservedReplicaSet = {
  readonly set: VirtualMachineInstanceReplicaSet;
  /** Instances that it controls, and those of its namespace that nobody controls. */
  readonly vmis: readonly VirtualMachineInstance[];
  /** A fresh look has shown that this set is still the one we think it is. */
  readonly mayAdopt: boolean;
  /** Why the last attempt to create an instance failed, until one succeeds. */
  readonly createError?: string | undefined;
  /** Why the last attempt to delete one failed, until one succeeds. */
  readonly deleteError?: string | undefined;
  readonly now: number;
};
