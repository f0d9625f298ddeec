/** What `decide` and `status` look at: one VM, its instance, and what is remembered of both. */
import type { ControllerRevision } from '../../api/core/controller-revision.ts';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import type { ReferencePolicy } from '../../api/kubevirt/configuration/cluster-configuration.ts';
import type { Chosen } from '../../api/kubevirt/instancetype/chosen.ts';
import type { DataVolume } from '../../api/kubevirt/kinds/data-volume.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';

/** Everything that is known of one VM when the controller looks at it. */
export type ObservedVm = {
  readonly vm: VirtualMachine;
  /** The instance that this VM controls. */
  readonly vmi?: VirtualMachineInstance | undefined;
  /** An instance of the same name that it does not control. No second one can exist beside it. */
  readonly stranger?: VirtualMachineInstance | undefined;
  /** The stranger has no controller, and a fresh look has shown that this VM is still the one we think it is. */
  readonly mayAdopt?: boolean;
  /** What the VM was at each of its starts that is still remembered. */
  readonly revisions?: readonly ControllerRevision[];
  /** The instance type and preference that it names, as found. */
  readonly chosen?: Chosen;
  /** What becomes of these; reference when it is not said. */
  readonly referencePolicy?: ReferencePolicy;
  /** The copies of these that are kept for it. */
  readonly copies?: readonly ControllerRevision[];
  /** What its instance was when it was suspended. */
  readonly kept?: ControllerRevision | undefined;
  /** The PVC of its memory; asked for while it is suspended, or on its way. */
  readonly memoryClaim?: PersistentVolumeClaim | undefined;
  /** When the virt-handler of the instance's node was last heard of; undefined when that does not matter. */
  readonly heartbeatAt?: number | undefined;
  /** A claim that the machine uses and that has no volume yet; asked for only until the guest runs. */
  readonly unboundClaim?: string | undefined;
  /** Those that it has templates for or names, and that are there, by name. */
  readonly dataVolumes?: ReadonlyMap<string, DataVolume>;
  /** Why the last attempt to create an instance failed, until one succeeds. */
  readonly createError?: string | undefined;
  /** Why the last attempt to delete one failed, until one succeeds. */
  readonly deleteError?: string | undefined;
  readonly now: number;
};
