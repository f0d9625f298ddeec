/** virt-controller: OVM -> VM -> VMI -> Pod, and replica sets -> VMI. One process of it works at a time. */
import { CONTROLLER_REVISIONS } from '../api/core/controller-revision.ts';
import { NODES } from '../api/core/node.ts';
import { PODS } from '../api/core/pod.ts';
import { OFFLINE_VMS } from '../api/kubevirt/kinds/offline-virtual-machine.ts';
import { VMIRSS } from '../api/kubevirt/kinds/replica-set.ts';
import { VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { LABEL_VM_REVISION } from '../api/kubevirt/names.ts';
import { type KubeObject, keyOf } from '../api/meta.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { startCache } from '../client/cache.ts';
import type { Client } from '../client/client.ts';
import { runDerivedVmController } from './derived-vm/controller.ts';
import { runNodeController } from './node/controller.ts';
import { runOfflineVmController } from './offline-vm/controller.ts';
import { byController, ownerKeysOf } from './owner.ts';
import { runReplicaSetController } from './replica-set/controller.ts';
import { runVmController } from './vm/controller.ts';
import { runVmiController } from './vmi/controller.ts';
import type { ContainerDiskWay } from './vmi/launcher-volumes.ts';
import { rememberWriteErrors } from './write-errors.ts';

export type VirtControllerOptions = {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** The image of launcher Pods. */
  readonly launcherImage?: string;
  /** How the images of containerDisks come into launcher Pods: what the nodes can do. */
  readonly containerDisks?: ContainerDiskWay;
};

/** Runs all controllers until the signal aborts; resolves when the last has finished what it was doing. */
export async function runVirtController(options: VirtControllerOptions): Promise<void> {
  const { client, clock, log, signal, launcherImage = 'kubevirt-ts/virt-launcher:latest', containerDisks } = options;
  const shared = { client, clock, log, signal };
  const vms = startCache({ ...shared, resource: VMS });
  const vmis = startCache({ ...shared, resource: VMIS, indexes: byController });
  const pods = startCache({
    ...shared,
    resource: PODS,
    labelSelector: 'kubevirt.io=virt-launcher',
    indexes: byController,
  });
  const revisions = startCache({ ...shared, resource: CONTROLLER_REVISIONS, labelSelector: LABEL_VM_REVISION, indexes: byController });
  const nodes = startCache({ ...shared, resource: NODES });
  const forVms = rememberWriteErrors({ client, kind: VMIS.kind });
  const forVmis = rememberWriteErrors({ client, kind: PODS.kind, keyOf: (pod) => ownerKeysOf(VMIS.kind)(pod)[0] });
  const offlineVms = startCache({ ...shared, resource: OFFLINE_VMS });
  const replicaSets = startCache({ ...shared, resource: VMIRSS });
  const forOfflineVms = rememberWriteErrors({ client, kind: VMS.kind });
  const setOf = (vmi: KubeObject | undefined) => vmi && ownerKeysOf(VMIRSS.kind)(vmi)[0];
  const forReplicaSets = rememberWriteErrors({ client, kind: VMIS.kind, keyOf: setOf, keyAt: (at) => setOf(vmis.get(keyOf(at))) });
  await Promise.all([
    runDerivedVmController({ ...shared, vms }),
    runNodeController({ ...shared, nodes }),
    runOfflineVmController({ ...shared, ...forOfflineVms, offlineVms, vms }),
    runReplicaSetController({ ...shared, ...forReplicaSets, replicaSets, vmis }),
    runVmController({ ...shared, ...forVms, vms, vmis, revisions, nodes }),
    runVmiController({ ...shared, ...forVmis, vms, vmis, pods, nodes, launcherImage, containerDisks }),
  ]);
}
