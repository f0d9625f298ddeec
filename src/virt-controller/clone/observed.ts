/** What `decide` looks at: one clone, its source, and the snapshot, the restore and the machine that are made for it. */
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineClone } from '../../api/kubevirt/kinds/vm-clone.ts';
import type { VirtualMachineRestore } from '../../api/kubevirt/kinds/vm-restore.ts';
import type { VirtualMachineSnapshot } from '../../api/kubevirt/kinds/vm-snapshot.ts';

/** Everything that is known of one clone when the controller looks at it. */
export type ObservedVmClone = {
  readonly clone: VirtualMachineClone;
  /** The machine that it is of, if it is of one. */
  readonly source?: VirtualMachine | undefined;
  /** The one that it is made from: that of its spec, or one that was taken for it. */
  readonly snapshot?: VirtualMachineSnapshot | undefined;
  readonly restore?: VirtualMachineRestore | undefined;
  /** The machine of the name of the target, whoever made it. */
  readonly target?: VirtualMachine | undefined;
  /** PVCs of the target without their volume. */
  readonly unbound?: readonly PersistentVolumeClaim[];
  readonly now: number;
};
