/** Makes VirtualMachineBackups: the loop of `observe`, `decide` and reconcile's apply. */
import { VM_BACKUP_TRACKERS } from '../../api/kubevirt/kinds/vm-backup-tracker.ts';
import { ANNOTATION_DOMAIN } from '../../api/kubevirt/names.ts';
import { type KubeObject, keyOf } from '../../api/meta.ts';
import { type ControllerOptions, runController } from '../../reconcile/controller.ts';
import { changesOf } from '../../reconcile/source.ts';
import { decideVmBackup } from './decide.ts';
import { BY_SOURCE, observeVmBackup, sourceKey, type VmBackupObserver } from './observe.ts';
import type { ObservedVmBackup } from './observed.ts';

/** Runs until the signal aborts. */
export function runVmBackupController(
  options: VmBackupObserver & Pick<ControllerOptions<ObservedVmBackup>, 'log' | 'metrics' | 'signal'>,
): Promise<void> {
  const { client, clock, log, metrics, signal, backups, trackers, vms, vmis, pods, attachments } = options;
  const keysOf = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => keyOf(metadata));
  const ofTracker = ({ metadata }: KubeObject) => keysOf(backups.byIndex(BY_SOURCE, sourceKey(VM_BACKUP_TRACKERS.kind, metadata)));
  const ofMachine = (at: Parameters<typeof keyOf>[0]) => {
    const key = sourceKey('VirtualMachine', at);
    return [...keysOf(backups.byIndex(BY_SOURCE, key)), ...trackers.byIndex(BY_SOURCE, key).flatMap(ofTracker)];
  };
  return runController<ObservedVmBackup>({
    name: 'backup-controller',
    client,
    clock,
    log,
    metrics,
    signal,
    triggers: [
      changesOf(backups, ({ metadata }) => [keyOf(metadata)]),
      changesOf(trackers, ofTracker),
      changesOf(vms, ({ metadata }) => ofMachine(metadata)),
      changesOf(vmis, ({ metadata }) => ofMachine(metadata)), // an instance has the name of its machine
      changesOf(pods, () => []),
      changesOf(attachments, ({ metadata: { namespace, annotations } }) =>
        ofMachine({ namespace, name: annotations?.[ANNOTATION_DOMAIN] ?? '' }),
      ),
    ],
    observe: (key) => observeVmBackup(options, key),
    decide: decideVmBackup,
    subject: ({ backup }) => backup,
  });
}
