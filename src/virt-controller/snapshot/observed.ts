/** What `decide` and `status` look at: one snapshot, its machine, and what has been kept so far. */
import type { ControllerRevision } from '../../api/core/controller-revision.ts';
import type { VolumeSnapshot } from '../../api/core/volume-snapshot.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { VirtualMachineSnapshot } from '../../api/kubevirt/kinds/vm-snapshot.ts';
import type { VirtualMachineSnapshotContent } from '../../api/kubevirt/kinds/vm-snapshot-content.ts';
import type { Claims } from '../vmi/claims.ts';

/** What this process has done to the guest for the snapshot; a process that was killed has forgotten it. */
export type Quiesce = 'untouched' | 'frozen' | 'failed' | 'thawed';

/** Everything that is known of one snapshot when the controller looks at it. */
export type ObservedVmSnapshot = {
  readonly snapshot: VirtualMachineSnapshot;
  readonly vm?: VirtualMachine | undefined;
  readonly vmi?: VirtualMachineInstance | undefined;
  /** The name of a migration of the instance that is not over; looked for when the memory is to be kept. */
  readonly migration?: string | undefined;
  /** What the machine was when its instance was started. */
  readonly revision?: ControllerRevision | undefined;
  readonly content?: VirtualMachineSnapshotContent | undefined;
  /** The record of the instance that is suspended; looked for when the memory is to be kept. */
  readonly kept?: ControllerRevision | undefined;
  /** The claims of the machine, or those that the content names. */
  readonly claims: Claims;
  /** Those of them that a DataVolume or an upload has not filled yet. */
  readonly unfilledClaims?: ReadonlySet<string>;
  /** Claims that a launcher Pod has mounted. */
  readonly claimsInUse: ReadonlySet<string>;
  /** Those that the content names. */
  readonly volumeSnapshots: ReadonlyMap<string, VolumeSnapshot | undefined>;
  /** The cluster has VolumeSnapshots at all. */
  readonly hasVolumeSnapshots: boolean;
  /** A restore in place that takes disks from it, and is not over; looked for when it is deleted. */
  readonly isReplacingDisks?: boolean;
  readonly quiesce: Quiesce;
  /** This process paused the guest and has not let it run since; the instance may not show that yet. */
  readonly hasPaused: boolean;
  readonly now: number;
};
