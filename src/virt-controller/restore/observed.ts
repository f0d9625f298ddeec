/** What `decide` looks at: one restore, what it is from, what it changes, and the claims that it makes. */
import type { ControllerRevision } from '../../api/core/controller-revision.ts';
import type { StorageClass } from '../../api/core/volume.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { VirtualMachineClone } from '../../api/kubevirt/kinds/vm-clone.ts';
import type { VirtualMachineRestore } from '../../api/kubevirt/kinds/vm-restore.ts';
import type { VirtualMachineSnapshot } from '../../api/kubevirt/kinds/vm-snapshot.ts';
import type { VirtualMachineSnapshotContent } from '../../api/kubevirt/kinds/vm-snapshot-content.ts';
import type { Claims } from '../vmi/claims.ts';

/** Everything that is known of one restore when the controller looks at it. */
export type ObservedVmRestore = {
  readonly restore: VirtualMachineRestore;
  readonly snapshot?: VirtualMachineSnapshot | undefined;
  readonly content?: VirtualMachineSnapshotContent | undefined;
  /** The target, if it is there. */
  readonly vm?: VirtualMachine | undefined;
  /** Its instance, whatever state that is in. */
  readonly vmi?: VirtualMachineInstance | undefined;
  /** Claims by the names that the restore gives. */
  readonly claims: Claims;
  /** What is recorded of instances of the target that were suspended. */
  readonly records?: readonly ControllerRevision[];
  /** Classes of claims that wait for their first user. */
  readonly lateClasses: ReadonlySet<StorageClass['metadata']['name']>;
  /** The clone that it makes a machine for; gone when that was deleted. */
  readonly clone?: VirtualMachineClone | 'gone' | undefined;
  readonly now: number;
};
