/** What `decide` and `status` look at: one pool, and every machine that may be its own. */
import type { ControllerRevision } from '../../api/core/controller-revision.ts';
import type { VirtualMachinePool } from '../../api/kubevirt/kinds/pool.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';

/** Everything that is known of one pool when the controller looks at it. */
export type ObservedPool = {
  readonly pool: VirtualMachinePool;
  /** Machines that it controls, and those of its namespace that nobody controls and that fit. */
  readonly vms: readonly VirtualMachine[];
  /** Names of machines in its namespace that are taken by others. */
  readonly takenNames?: ReadonlySet<string>;
  /** The instances of its machines, by name. */
  readonly vmis: ReadonlyMap<string, VirtualMachineInstance>;
  /** Labels of the nodes that they run on, by name. */
  readonly nodeLabels?: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** What its template was. */
  readonly revisions: readonly ControllerRevision[];
  /** A fresh look has shown that this pool is still the one we think it is. */
  readonly mayAdopt: boolean;
  /** Why the last attempt to create a machine failed, until one succeeds. */
  readonly createError?: string | undefined;
  /** Why the last attempt to delete one failed, until one succeeds. */
  readonly deleteError?: string | undefined;
  readonly now: number;
};
