/** virt-controller: OVM -> VM -> VMI -> Pod, replica sets -> VMI, snapshots and restores. One process of it works at a time. */
import { CONTROLLER_REVISIONS } from '../api/core/controller-revision.ts';
import { NODES } from '../api/core/node.ts';
import { PODS } from '../api/core/pod.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '../api/core/volume.ts';
import { LABEL_EXPORT_SERVICE } from '../api/exporter/exporter.ts';
import { CHOICE_NAMES, CHOICES } from '../api/kubevirt/instancetype/choices-table.ts';
import { DATA_VOLUMES } from '../api/kubevirt/kinds/data-volume.ts';
import { KUBEVIRTS } from '../api/kubevirt/kinds/kubevirt.ts';
import { MIGRATIONS } from '../api/kubevirt/kinds/migration.ts';
import { MIGRATION_POLICIES } from '../api/kubevirt/kinds/migration-policy.ts';
import { OFFLINE_VMS } from '../api/kubevirt/kinds/offline-virtual-machine.ts';
import { POOLS } from '../api/kubevirt/kinds/pool.ts';
import { VMIRSS } from '../api/kubevirt/kinds/replica-set.ts';
import { VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { VM_BACKUPS } from '../api/kubevirt/kinds/vm-backup.ts';
import { VM_BACKUP_TRACKERS } from '../api/kubevirt/kinds/vm-backup-tracker.ts';
import { VM_CLONES } from '../api/kubevirt/kinds/vm-clone.ts';
import { VM_EXPORTS } from '../api/kubevirt/kinds/vm-export.ts';
import { VM_RESTORES } from '../api/kubevirt/kinds/vm-restore.ts';
import { VM_SNAPSHOTS } from '../api/kubevirt/kinds/vm-snapshot.ts';
import { VM_SNAPSHOT_CONTENTS } from '../api/kubevirt/kinds/vm-snapshot-content.ts';
import { LABEL_CDI, LABEL_COMPONENT, LABEL_VM_REVISION } from '../api/kubevirt/names.ts';
import { ATTACHMENT_COMPONENT } from '../api/launcher/attachment.ts';
import { type KubeObject, keyOf } from '../api/meta.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { MetricFamilies } from '../base/metrics.ts';
import { Pulse } from '../base/pulse.ts';
import { startCache } from '../client/cache.ts';
import type { Client } from '../client/client.ts';
import { type FollowedConfiguration, followConfiguration } from '../client/follow-configuration.ts';
import { byController, ownerKeysOf } from '../reconcile/owner.ts';
import { rememberWriteErrors } from '../reconcile/write-errors.ts';
import { runVmBackupController } from './backup/controller.ts';
import { bySource as byBackupSource } from './backup/observe.ts';
import { runVmCloneController } from './clone/controller.ts';
import { runDataVolumeController } from './data-volume/controller.ts';
import { runDerivedVmController } from './derived-vm/controller.ts';
import { runEvacuationController } from './evacuation/controller.ts';
import { runVmExportController, type VmExportOptions } from './export/controller.ts';
import { heardNodes } from './heard-nodes.ts';
import { addControllerMetrics } from './metrics/add-metrics.ts';
import { runMigrationController } from './migration/controller.ts';
import { byVmi, migrationKeyOf } from './migration/observe.ts';
import { runNodeController } from './node/controller.ts';
import { runOfflineVmController } from './offline-vm/controller.ts';
import { runPoolController } from './pool/controller.ts';
import { runReplicaSetController } from './replica-set/controller.ts';
import { byTarget, runVmRestoreController } from './restore/controller.ts';
import { bySource, runVmSnapshotController } from './snapshot/controller.ts';
import { runUploadClaimController } from './upload-claim/controller.ts';
import { byDataVolume, runVmController } from './vm/controller.ts';
import { byClaim, sizesOnly } from './vmi/claim-sizes.ts';
import { runVmiController } from './vmi/controller.ts';
import type { ContainerDiskWay } from './vmi/launcher-volumes.ts';
import { runWorkloadUpdateController } from './workload-update/controller.ts';

export type VirtControllerOptions = {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** The image of launcher Pods. */
  readonly launcherImage?: string;
  /** The image of Pods that fill PVCs. */
  readonly importerImage?: string;
  /** Who vouches for virt-api, as PEM; nobody is believed when not given. */
  readonly readAuthority?: () => Promise<string>;
  /** Where those outside of the cluster get exports; nowhere when not given. */
  readonly findExternal?: VmExportOptions['findExternal'];
  /** How the images of containerDisks come into launcher Pods: what the nodes can do. */
  readonly containerDisks?: ContainerDiskWay;
  /** That of the KubeVirt object; followed here when not given. */
  readonly configuration?: FollowedConfiguration;
  /** Where to show machines, and how long starts take. */
  readonly metrics?: MetricFamilies;
};

/** Runs all controllers until the signal aborts; resolves when the last has finished what it was doing. */
export async function runVirtController(options: VirtControllerOptions): Promise<void> {
  const { client, clock, log, signal, launcherImage = 'kubevirt-ts/virt-launcher:latest', containerDisks } = options;
  const shared = { client, clock, log, signal, ...(options.metrics && { metrics: options.metrics }) };
  const vms = startCache({ ...shared, resource: VMS, indexes: { ...byController, ...byDataVolume } });
  const vmis = startCache({ ...shared, resource: VMIS, indexes: { ...byController, ...byClaim } });
  const pods = startCache({
    ...shared,
    resource: PODS,
    labelSelector: 'kubevirt.io=virt-launcher',
    indexes: byController,
  });
  const attachments = startCache({
    ...shared,
    resource: PODS,
    labelSelector: `${LABEL_COMPONENT}=${ATTACHMENT_COMPONENT}`,
    indexes: byController,
  });
  const claimSizes = startCache({ ...shared, resource: PERSISTENT_VOLUME_CLAIMS, keep: sizesOnly });
  const revisions = startCache({ ...shared, resource: CONTROLLER_REVISIONS, labelSelector: LABEL_VM_REVISION, indexes: byController });
  const choices = CHOICE_NAMES.flatMap((choice) =>
    CHOICES[choice].kinds.map((resource) => startCache<KubeObject>({ ...shared, resource })),
  );
  const configuration = options.configuration ?? followConfiguration(shared);
  const pulse = new Pulse(clock);
  const nodes = heardNodes(startCache({ ...shared, resource: NODES }), { clock, pulse });
  const forVms = rememberWriteErrors({ client, kind: VMIS.kind });
  const forVmis = rememberWriteErrors({ client, kind: PODS.kind, keyOf: (pod) => ownerKeysOf(VMIS.kind)(pod)[0] });
  const offlineVms = startCache({ ...shared, resource: OFFLINE_VMS });
  const replicaSets = startCache({ ...shared, resource: VMIRSS });
  const forOfflineVms = rememberWriteErrors({ client, kind: VMS.kind });
  const setOf = (vmi: KubeObject | undefined) => vmi && ownerKeysOf(VMIRSS.kind)(vmi)[0];
  const forReplicaSets = rememberWriteErrors({ client, kind: VMIS.kind, keyOf: setOf, keyAt: (at) => setOf(vmis.get(keyOf(at))) });
  const pools = startCache({ ...shared, resource: POOLS });
  const poolOf = (vm: KubeObject | undefined) => vm && ownerKeysOf(POOLS.kind)(vm)[0];
  const forPools = rememberWriteErrors({ client, kind: VMS.kind, keyOf: poolOf, keyAt: (at) => poolOf(vms.get(keyOf(at))) });
  const migrations = startCache({ ...shared, resource: MIGRATIONS, indexes: byVmi });
  const forMigrations = rememberWriteErrors({ client, kind: PODS.kind, keyOf: migrationKeyOf });
  const kubeVirts = startCache({ ...shared, resource: KUBEVIRTS });
  const policies = startCache({ ...shared, resource: MIGRATION_POLICIES });
  const launchers = { launcherImage, containerDisks, configuration };
  const snapshots = startCache({ ...shared, resource: VM_SNAPSHOTS, indexes: bySource });
  const contents = startCache({ ...shared, resource: VM_SNAPSHOT_CONTENTS });
  const shown = { vms, vmis, migrations, claims: claimSizes, snapshots, pods, launcherImage, configuration };
  if (options.metrics) addControllerMetrics({ ...shared, ...shown, metrics: options.metrics });
  const dataVolumes = startCache({ ...shared, resource: DATA_VOLUMES, indexes: byController });
  const importers = startCache({ ...shared, resource: PODS, labelSelector: LABEL_CDI });
  const importer = { image: options.importerImage ?? 'kubevirt-ts/virt-importer:latest', way: containerDisks ?? 'image-volume' } as const;
  const claims = startCache({ ...shared, resource: PERSISTENT_VOLUME_CLAIMS });
  const readAuthority = options.readAuthority ?? (async () => '');
  const restores = startCache({ ...shared, resource: VM_RESTORES, indexes: byTarget });
  const exporters = startCache({ ...shared, resource: PODS, labelSelector: LABEL_EXPORT_SERVICE });
  const exports = startCache({ ...shared, resource: VM_EXPORTS });
  const findExternal = options.findExternal ?? (async () => undefined);
  const ofExports = { exports, exporters, image: importer.image, findExternal };
  const ofBackups = {
    backups: startCache({ ...shared, resource: VM_BACKUPS, indexes: byBackupSource }),
    trackers: startCache({ ...shared, resource: VM_BACKUP_TRACKERS, indexes: byBackupSource }),
  };
  await Promise.all([
    pulse.run(signal),
    runDataVolumeController({ ...shared, dataVolumes, importers, importer, readAuthority }),
    runUploadClaimController({ ...shared, claims, importers, importer, readAuthority }),
    runDerivedVmController({ ...shared, vms }),
    runNodeController({ ...shared, nodes }),
    runOfflineVmController({ ...shared, ...forOfflineVms, offlineVms, vms }),
    runPoolController({ ...shared, ...forPools, pools, vms, vmis, revisions, nodes }),
    runReplicaSetController({ ...shared, ...forReplicaSets, replicaSets, vmis }),
    runVmCloneController({ ...shared, clones: startCache({ ...shared, resource: VM_CLONES }), snapshots, restores, vms }),
    runVmExportController({ ...shared, ...ofExports, vms, vmis, pods, attachments, snapshots, contents, dataVolumes }),
    runVmRestoreController({ ...shared, restores, snapshots, contents, vms, vmis, revisions }),
    runVmSnapshotController({ ...shared, snapshots, contents, vms, vmis, pods, revisions, migrations }),
    runVmController({ ...shared, ...forVms, vms, vmis, dataVolumes, revisions, nodes, choices, configuration }),
    runVmiController({ ...shared, ...forVmis, vms, vmis, pods, attachments, claimSizes, nodes, ...launchers }),
    runVmBackupController({ ...shared, ...ofBackups, vms, vmis, pods, attachments, ...launchers }),
    runEvacuationController({ ...shared, migrations, vmis, nodes, configuration }),
    runWorkloadUpdateController({ ...shared, kubeVirts, migrations, vmis, pods, launcherImage, configuration }),
    runMigrationController({ ...shared, ...forMigrations, migrations, policies, vmis, pods, nodes, ...launchers }),
  ]);
}
