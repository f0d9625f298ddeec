/** What `decide` and `status` look at: one backup, its machine, and the Pod that writes it. */
import type { Pod } from '../../api/core/pod.ts';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import type { ClusterConfiguration } from '../../api/kubevirt/configuration/cluster-configuration.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { VirtualMachineBackup } from '../../api/kubevirt/kinds/vm-backup.ts';
import type { VirtualMachineBackupTracker } from '../../api/kubevirt/kinds/vm-backup-tracker.ts';
import type { ContainerDiskWay } from '../vmi/launcher-volumes.ts';

/** Everything that is known of one backup when the controller looks at it. */
export type ObservedVmBackup = {
  readonly backup: VirtualMachineBackup;
  /** The tracker that is its source. */
  readonly tracker?: VirtualMachineBackupTracker | undefined;
  /** All trackers of the machine. */
  readonly trackers: readonly VirtualMachineBackupTracker[];
  readonly vm?: VirtualMachine | undefined;
  /** The instance of that very machine. */
  readonly vmi?: VirtualMachineInstance | undefined;
  /** What the instance was last asked for is of a backup that is not there any more. */
  readonly isForgotten?: boolean;
  /** The Pod of the instance. */
  readonly launcher?: Pod | undefined;
  /** The Pod that writes backups of the instance. */
  readonly pod?: Pod | undefined;
  /** The PVC that it goes to; looked at until it has begun. */
  readonly claim?: PersistentVolumeClaim | undefined;
  readonly launcherImage: string;
  readonly containerDisks?: ContainerDiskWay | undefined;
  readonly configuration?: ClusterConfiguration;
  readonly now: number;
};
