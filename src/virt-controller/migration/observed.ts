/** What `decide` looks at: one migration, the instance that it moves, the Pods on both sides, and what else is being moved. */
import type { Pod } from '../../api/core/pod.ts';
import type { MigrationSettings } from '../../api/kubevirt/configuration/migration-settings.ts';
import type { VirtualMachineInstanceMigration } from '../../api/kubevirt/kinds/migration.ts';
import type { MigrationPolicy } from '../../api/kubevirt/kinds/migration-policy.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { LauncherOptions } from '../vmi/launcher-pod.ts';
import type { UnderWay } from './under-way.ts';

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
  /** Migrations that are under way or before this one, in the cluster and away from the node of this instance. */
  readonly underWay: UnderWay;
  /** Older ones of the same instance that are over, the newest first. */
  readonly finished: readonly VirtualMachineInstanceMigration[];
  /** Why the Pod could not be made, until one could. */
  readonly createError?: string | undefined;
  /** That of the policies which holds for the instance. */
  readonly policy?: MigrationPolicy | undefined;
  /** How machines are moved that no policy is for, and how many at once. */
  readonly settings: MigrationSettings;
  readonly launcher: LauncherOptions;
  readonly now: number;
};
