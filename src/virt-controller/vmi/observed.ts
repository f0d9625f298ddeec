/** What `decide`, `phase` and `status` look at: one instance, its Pods, and the state of its node and claims. */
import type { Pod } from '../../api/core/pod.ts';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import type { ClusterConfiguration } from '../../api/kubevirt/configuration/cluster-configuration.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { Claims } from './claims.ts';
import type { ContainerDiskWay } from './launcher-volumes.ts';

/** Everything that is known of one instance when the controller looks at it. */
export type ObservedVmi = {
  readonly vmi: VirtualMachineInstance;
  /** Every Pod that the instance controls. */
  readonly pods: readonly Pod[];
  /** It carries the VM controller's finalizer and no VM controls it any more. */
  readonly isVmGone: boolean;
  /** Why the last attempt to create a Pod failed, until one succeeds. */
  readonly createError?: string | undefined;
  /** The virt-handler of its node was not heard of for too long. */
  readonly isNodeLost?: boolean;
  readonly launcherImage: string;
  readonly containerDisks?: ContainerDiskWay | undefined;
  /** A node gives its KVM to Pods; looked at while it has no Pod. */
  readonly hasKvm?: boolean;
  /** That of the installation; the defaults when not given. */
  readonly configuration?: ClusterConfiguration;
  /** The claims it uses, until it is Scheduled. */
  readonly claims?: Claims | undefined;
  /** Those of them that are not filled yet, by a DataVolume or an upload; asked for while there is no Pod. */
  readonly unfilledClaims?: ReadonlySet<string> | undefined;
  /** The Pods that attach volumes to its guest, and those that save or dump its memory. */
  readonly attachments?: readonly Pod[];
  /** The claims of hotplugged volumes; looked at while one of these is not in the guest. */
  readonly hotplugClaims?: Claims | undefined;
  /** Those of them that are not filled yet. */
  readonly unfilledHotplugClaims?: ReadonlySet<string> | undefined;
  /** The claim that its memory is to be dumped to; looked at until its Pod runs. */
  readonly dumpClaim?: PersistentVolumeClaim | undefined;
  /** How large the claims of an instance with a node are now. */
  readonly claimSizes?: Claims | undefined;
  readonly now: number;
};
