/** What `decide` looks at: one migration, the instance that it moves, the Pods on both sides, and what else is being moved. */
import type { Pod } from '../../api/core/pod.ts';
import type { VirtualMachineInstanceMigration } from '../../api/kubevirt/kinds/migration.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { LauncherOptions } from '../vmi/launcher-pod.ts';

export type ObservedMigration = {
  readonly migration: VirtualMachineInstanceMigration;
  /** Undefined when it is gone, or another one has its name. */
  readonly vmi?: VirtualMachineInstance | undefined;
  /** The Pod that the guest is in. */
  readonly sourcePod?: Pod | undefined;
  /** The Pod that this migration has made. */
  readonly targetPod?: Pod | undefined;
  /** Another migration of the same instance that is not over and came first. */
  readonly earlier?: string | undefined;
  /** Migrations that are under way, in the cluster and away from the node of this instance. */
  readonly underWay: { readonly inCluster: number; readonly fromNode: number };
  /** Older ones of the same instance that are over, the newest first. */
  readonly finished: readonly VirtualMachineInstanceMigration[];
  /** Why the Pod could not be made, until one could. */
  readonly createError?: string | undefined;
  readonly launcher: LauncherOptions;
  readonly now: number;
};
