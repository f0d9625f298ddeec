/** Gathers what `decideVmBackup` looks at: the backup, its tracker, the machine and its instance, and the Pods. */
import type { Pod } from '../../api/core/pod.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '../../api/core/volume.ts';
import { backupRequestOf } from '../../api/kubevirt/backup.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { isBackupOver, type VirtualMachineBackup } from '../../api/kubevirt/kinds/vm-backup.ts';
import { type VirtualMachineBackupTracker, VM_BACKUP_TRACKERS } from '../../api/kubevirt/kinds/vm-backup-tracker.ts';
import { isBackupPodOf } from '../../api/launcher/backup.ts';
import { isLauncherOf } from '../../api/launcher/pod-name.ts';
import { isControlledBy, keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Cache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import type { FollowedConfiguration } from '../../client/follow-configuration.ts';
import { BY_CONTROLLER } from '../../reconcile/owner.ts';
import type { ContainerDiskWay } from '../vmi/launcher-volumes.ts';
import { currentPod } from '../vmi/phase.ts';
import type { ObservedVmBackup } from './observed.ts';

export type VmBackupObserver = {
  readonly client: Client;
  readonly clock: Clock;
  /** Both by `bySource`. */
  readonly backups: Cache<VirtualMachineBackup>;
  readonly trackers: Cache<VirtualMachineBackupTracker>;
  readonly vms: Cache<VirtualMachine>;
  readonly vmis: Cache<VirtualMachineInstance>;
  readonly pods: Cache<Pod>;
  /** The Pods that attach volumes and write to PVCs, by the launcher Pod that owns them. */
  readonly attachments: Cache<Pod>;
  readonly launcherImage: string;
  readonly containerDisks?: ContainerDiskWay | undefined;
  readonly configuration: FollowedConfiguration;
};

export const BY_SOURCE = 'source';
/** Backups and trackers by the kind and the key of what they are of. */
export const bySource = {
  [BY_SOURCE]: ({ metadata: { namespace }, spec }: VirtualMachineBackup | VirtualMachineBackupTracker): readonly string[] => [
    sourceKey(spec.source.kind, { namespace, name: spec.source.name }),
  ],
};

export function sourceKey(kind: string, at: Parameters<typeof keyOf>[0]): string {
  return `${kind} ${keyOf(at)}`;
}

/** What is known of the backup with this key; undefined when it is gone. */
export async function observeVmBackup(observer: VmBackupObserver, key: string): Promise<ObservedVmBackup | undefined> {
  const { client, clock, launcherImage, containerDisks } = observer;
  await observer.configuration.known;
  const backup = observer.backups.get(key);
  if (!backup) return undefined;
  const { namespace } = backup.metadata;
  const { kind, name } = backup.spec.source;
  const tracker = kind === VM_BACKUP_TRACKERS.kind ? observer.trackers.get(keyOf({ namespace, name })) : undefined;
  const machine = kind === VM_BACKUP_TRACKERS.kind ? tracker?.spec.source.name : name;
  const at = { namespace, name: machine ?? '' };
  const vm = observer.vms.get(keyOf(at));
  const found = observer.vmis.get(keyOf(at));
  const vmi = vm && found && isControlledBy(found, vm) ? found : undefined;
  const { pvcName: claimName = '' } = backup.spec;
  return {
    backup,
    tracker,
    trackers: observer.trackers.byIndex(BY_SOURCE, sourceKey('VirtualMachine', at)),
    vm,
    vmi,
    ...(vmi && { ...podsOf(observer, vmi), isForgotten: isForgotten(observer, vmi) }),
    claim: isBackupOver(backup) ? undefined : await client.get(PERSISTENT_VOLUME_CLAIMS, { namespace, name: claimName }),
    launcherImage,
    containerDisks,
    configuration: observer.configuration.current,
    now: clock.now(),
  };
}

/** Somebody has taken our finalizer off a backup: nobody else would let its request go. */
function isForgotten({ backups }: VmBackupObserver, vmi: VirtualMachineInstance): boolean {
  const { backupName: name = '', backupUID } = backupRequestOf(vmi) ?? {};
  return backups.get(keyOf({ namespace: vmi.metadata.namespace, name }))?.metadata.uid !== backupUID;
}

function podsOf({ pods, attachments }: VmBackupObserver, vmi: VirtualMachineInstance): Pick<ObservedVmBackup, 'launcher' | 'pod'> {
  const launchers = pods.byIndex(BY_CONTROLLER, vmi.metadata.uid ?? '').filter((pod) => isLauncherOf(pod, vmi));
  const launcher = currentPod({ vmi, pods: launchers });
  const beside = launcher ? attachments.byIndex(BY_CONTROLLER, launcher.metadata.uid ?? '') : [];
  return { launcher, pod: launcher && beside.find((pod) => isBackupPodOf(pod, { vmi, launcher })) };
}
